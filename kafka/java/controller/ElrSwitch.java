package org.apache.kafka.controller;

import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.requests.ApiError;

import java.util.Map;

/** Whether ELRs are on, and how they are switched: a feature since 4.0, an argument of the controller before. */
final class ElrSwitch {
    private static final AnyVersion BY_FEATURE =
        AnyVersion.method(FeatureControlManager.class, "isElrFeatureEnabled", 0);
    private static final AnyVersion BY_ARGUMENT =
        AnyVersion.method(ReplicationControlManager.class, "isElrEnabled", 0);
    private static final AnyVersion UPDATE =
        AnyVersion.method(ConfigurationControlManager.class, "updateFeatures", 3);

    private ElrSwitch() { }

    static boolean isOn(Managers managers) {
        return BY_FEATURE != null
            ? (Boolean) BY_FEATURE.call(managers.features)
            : (Boolean) BY_ARGUMENT.call(managers.replication);
    }

    @SuppressWarnings("unchecked")
    static ApiError turn(Managers managers, boolean on) {
        if (UPDATE == null) throw new UnsupportedVersionException("this Kafka has no such feature");
        FeatureUpdate.UpgradeType how =
            on ? FeatureUpdate.UpgradeType.UPGRADE : FeatureUpdate.UpgradeType.SAFE_DOWNGRADE;
        return managers.run(() -> (ControllerResult<ApiError>) UPDATE.call(managers.configuration,
            Map.of(Managers.ELR_FEATURE, (short) (on ? 1 : 0)), Map.of(Managers.ELR_FEATURE, how), false));
    }
}
