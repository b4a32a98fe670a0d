package org.elrcheck.junit;

import java.lang.reflect.Constructor;
import kafka.server.ReplicaManager;
import kafka.server.metadata.BrokerMetadataPublisher;
import kafka.server.metadata.DynamicConfigPublisher;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.loader.LoaderManifest;
import org.apache.kafka.server.fault.FaultHandler;
import org.mockito.Mockito;

/** A broker's metadata publisher with a commit that has records of a topic and of its configuration. */
final class Publication {
    private Publication() { }

    /** ReplicaManager and DynamicConfigPublisher do what is given, in the order in which they are called. */
    static void of(Runnable topics, Runnable configurations) {
        Constructor<?> constructor = BrokerMetadataPublisher.class.getConstructors()[0];
        Class<?>[] types = constructor.getParameterTypes();
        Object[] parts = new Object[types.length];
        for (int i = 0; i < types.length; i++) parts[i] = part(types[i], topics, configurations);
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        delta.replay(new TopicRecord().setName("t").setTopicId(new Uuid(1L, 2L)));
        delta.replay(new ConfigRecord().setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName("t")
            .setName("min.insync.replicas").setValue("2"));
        try {
            BrokerMetadataPublisher publisher = (BrokerMetadataPublisher) constructor.newInstance(parts);
            publisher._firstPublish_$eq(false);
            MetadataImage image = delta.apply(MetadataProvenance.EMPTY);
            publisher.onMetadataUpdate(delta, image, Mockito.mock(LoaderManifest.class));
        } catch (ReflectiveOperationException unusable) {
            throw new IllegalStateException(unusable);
        }
    }

    private static <T> T part(Class<T> type, Runnable topics, Runnable configurations) {
        return Mockito.mock(type, call -> {
            String name = call.getMethod().getName();
            if (type == ReplicaManager.class && name.equals("applyDelta")) topics.run();
            if (type == DynamicConfigPublisher.class && name.equals("onMetadataUpdate")) configurations.run();
            if (type == FaultHandler.class && name.equals("handleFault"))
                throw new AssertionError(call.getArgument(0), call.getArgument(1));
            return Mockito.RETURNS_DEFAULTS.answer(call);
        });
    }
}
