package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The indexes of the running controller, and those of a controller that loads a snapshot of everything committed.
 *
 * The second ones have the index "partition" besides: what a partition is there, due as the running controller has it.
 */
final class IndexQuestions {
    /** failure: of writing or loading the snapshot, or null. */
    record Answer(List<Indexes.Entry> running, List<Indexes.Entry> loaded, String failure) { }

    private Managers other;

    Answer answer(Managers running) {
        Map<Uuid, String> names = Indexes.names(running.committed());
        List<Indexes.Entry> now = Indexes.of(running, names);
        try {
            Managers loaded = loaded(running);
            List<Indexes.Entry> then = new ArrayList<>(Indexes.of(loaded, names));
            then.addAll(partitions(running, loaded, names));
            return new Answer(now, then, null);
        } catch (RuntimeException failure) {
            return new Answer(now, List.of(), Wire.text(failure));
        }
    }

    /** Managers are made once for each metadata version, and emptied for the next snapshot. */
    private Managers emptied(MetadataVersion version) {
        if (other == null || other.version != version) {
            other = new Managers(false, version);
            other.mark(Managers.EMPTY);
        }
        other.empty();
        return other;
    }

    private Managers loaded(Managers running) {
        MetadataDelta delta = new MetadataDelta.Builder().build();
        for (ApiMessage record : running.committed()) delta.replay(record);
        MetadataImage image = delta.apply(MetadataProvenance.EMPTY);
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).build());
        Managers loaded = emptied(running.version);
        for (ApiMessageAndVersion record : writer.records()) loaded.replay(record.message());
        return loaded;
    }

    private static List<Indexes.Entry> partitions(Managers running, Managers loaded, Map<Uuid, String> names) {
        Map<Indexes.Key, int[]> counts = new TreeMap<>();
        count(loaded, names, counts, 0);
        count(running, names, counts, 1);
        List<Indexes.Entry> entries = new ArrayList<>();
        counts.forEach((key, both) -> entries.add(
            new Indexes.Entry(key.index(), key.of(), key.partition(), both[0], both[1])));
        return entries;
    }

    private static void count(Managers managers, Map<Uuid, String> names, Map<Indexes.Key, int[]> counts, int side) {
        Indexes.topics(managers).forEach((id, topic) -> Indexes.partitions(topic).forEach((number, partition) -> {
            Indexes.Key key = new Indexes.Key(
                "partition", Wire.write(Partition.of(partition)), names.get(id) + "-" + number);
            counts.computeIfAbsent(key, none -> new int[2])[side]++;
        }));
    }
}
