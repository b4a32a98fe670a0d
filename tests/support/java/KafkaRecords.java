import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import RECORDS.MemoryRecords;
import RECORDS.SimpleRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** Answers lines on standard input with what Kafka's own serializers make of them. */
public final class KafkaRecords {
    private static final ObjectMapper JSON = JsonMapper.builder().build();
    private static MetadataImage image = MetadataImage.EMPTY;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answer(line.split(" ", 5));
            } catch (Throwable fault) {
                answer = "error " + fault;
            }
            out.println(answer);
            out.flush();
        }
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "types":
                return types();
            case "fields":
                return fields(Short.parseShort(words[1]), Short.parseShort(words[2]));
            case "forget":
                image = MetadataImage.EMPTY;
                return "forgotten";
            case "replay":
                return replay(Short.parseShort(words[1]), Short.parseShort(words[2]), words[3]
                    + (words.length > 4 ? " " + words[4] : ""));
            case "record":
                return record(Short.parseShort(words[1]), Short.parseShort(words[2]), words[3]
                    + (words.length > 4 ? " " + words[4] : ""));
            default:
                return hex(batch(words[0], Long.parseLong(words[1]), Integer.parseInt(words[2]),
                    Long.parseLong(words[3]), words[4]).buffer());
        }
    }

    private static String types() {
        StringBuilder all = new StringBuilder();
        for (MetadataRecordType type : MetadataRecordType.values()) {
            all.append(type.name()).append(' ').append(type.id()).append(' ')
                .append(type.lowestSupportedVersion()).append(' ').append(type.highestSupportedVersion()).append(';');
        }
        return all.toString();
    }

    private static String fields(short key, short version) throws Exception {
        Class<?> type = MetadataRecordType.fromId(key).newMetadataRecord().getClass();
        return schema(((Schema[]) type.getField("SCHEMAS").get(null))[version]);
    }

    private static String schema(Schema schema) throws Exception {
        var content = TaggedFields.class.getDeclaredField("fields");
        content.setAccessible(true);
        StringBuilder all = new StringBuilder();
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields) {
                for (Map.Entry<?, ?> tagged : ((Map<?, ?>) content.get(bound.def.type)).entrySet()) {
                    all.append(field((Field) tagged.getValue())).append('#').append(tagged.getKey()).append(' ');
                }
            } else {
                all.append(field(bound.def)).append(' ');
            }
        }
        return all.toString().trim();
    }

    private static String field(Field field) {
        return field.name + (field.type.isNullable() ? "?" : "");
    }

    private static String record(short key, short version, String text) throws Exception {
        var message = MetadataJsonConverters.readJson(JSON.readTree(text), key, version);
        var both = new ApiMessageAndVersion(message, version);
        var cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(both, cache));
        MetadataRecordSerde.INSTANCE.write(both, cache, new ByteBufferAccessor(buffer));
        buffer.flip();
        return hex(buffer) + " " + MetadataJsonConverters.writeJson(message, version);
    }

    /** Apply a record to the image, and print all partitions and brokers of it. */
    private static String replay(short key, short version, String text) throws Exception {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        delta.replay(MetadataJsonConverters.readJson(JSON.readTree(text), key, version));
        image = delta.apply(MetadataProvenance.EMPTY);
        Map<String, Object> partitions = new TreeMap<>();
        for (TopicImage topic : image.topics().topicsById().values()) {
            for (Map.Entry<Integer, PartitionRegistration> entry : topic.partitions().entrySet()) {
                PartitionRegistration p = entry.getValue();
                partitions.put(topic.name() + "-" + entry.getKey(), List.of(p.replicas, p.isr, p.elr,
                    p.lastKnownElr, p.addingReplicas, p.removingReplicas, p.leader, p.leaderEpoch,
                    p.partitionEpoch, p.leaderRecoveryState.name(), names(List.of(p.directories))));
            }
        }
        Map<String, Object> brokers = new TreeMap<>();
        for (BrokerRegistration broker : image.cluster().brokers().values()) {
            brokers.put(String.valueOf(broker.id()), List.of(broker.epoch(), broker.fenced(),
                broker.inControlledShutdown(), names(broker.directories())));
        }
        return JSON.writeValueAsString(List.of(partitions, brokers));
    }

    private static List<String> names(List<Uuid> ids) {
        return ids.stream().map(Uuid::toString).collect(Collectors.toList());
    }

    private static MemoryRecords batch(String kind, long base, int epoch, long time, String rest) {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        switch (kind) {
            case "leader":
                int leader = Integer.parseInt(rest);
                var voter = new LeaderChangeMessage.Voter().setVoterId(leader);
                return MemoryRecords.withLeaderChangeMessage(base, time, epoch, buffer,
                    new LeaderChangeMessage().setLeaderId(leader).setVoters(List.of(voter))
                        .setGrantingVoters(List.of(voter)));
            case "header":
                return MemoryRecords.withSnapshotHeaderRecord(base, time, epoch, buffer,
                    new SnapshotHeaderRecord().setLastContainedLogTimestamp(Long.parseLong(rest)));
            case "footer":
                return MemoryRecords.withSnapshotFooterRecord(base, time, epoch, buffer, new SnapshotFooterRecord());
            case "batch":
                String[] values = rest.split(",");
                SimpleRecord[] records = new SimpleRecord[values.length];
                for (int i = 0; i < values.length; i++) {
                    records[i] = new SimpleRecord(time, bytes(values[i]));
                }
                return MemoryRecords.withRecords(base, Compression.NONE, epoch, records);
            case "gzip":
                return MemoryRecords.withRecords(base, Compression.gzip().build(), epoch,
                    new SimpleRecord(time, bytes(rest)));
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private static byte[] bytes(String hex) {
        byte[] found = new byte[hex.length() / 2];
        for (int i = 0; i < found.length; i++) {
            found[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return found;
    }

    private static String hex(ByteBuffer buffer) {
        StringBuilder all = new StringBuilder();
        for (ByteBuffer left = buffer.duplicate(); left.hasRemaining(); ) {
            all.append(String.format("%02x", left.get()));
        }
        return all.toString();
    }
}
