package org.apache.kafka.controller;

import org.apache.kafka.server.common.MetadataVersion;

import java.util.HashMap;
import java.util.Map;

/** Metadata versions by their names, and which one is meant where none is named. */
final class Versions {
    private static final Map<String, MetadataVersion> BY_NAME = new HashMap<>();

    static {
        for (MetadataVersion version : MetadataVersion.values()) BY_NAME.put(version.version(), version);
    }

    private Versions() { }

    /**
     * The version that a question names. Without one it is the newest that is in production, unless ELRs are asked
     * for and only a newer one has them, as in 3.9, where they are a preview.
     */
    static MetadataVersion named(String name, boolean elr) {
        if (name == null) {
            MetadataVersion newest = MetadataVersion.latestProduction();
            return elr && !newest.isElrSupported() ? MetadataVersion.latestTesting() : newest;
        }
        MetadataVersion version = BY_NAME.get(name);
        if (version == null) throw new Wire.Misunderstood("no metadata version " + name);
        return version;
    }
}
