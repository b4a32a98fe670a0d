package org.apache.kafka.controller;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Questions and answers as JSON lines. Every field of a question is there, and nothing else. */
final class Wire {
    private static final JsonMapper MAPPER = JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
            DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
            DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
        .build();
    private static final ObjectReader READER = MAPPER.readerFor(Question.class);
    private static final ObjectWriter WRITER = MAPPER.writer();

    /** A line that does not say what it should: a mistake of the caller. */
    static final class Misunderstood extends RuntimeException {
        Misunderstood(String message) {
            super(message);
        }
    }

    private Wire() { }

    static Question read(String line) {
        try {
            return READER.readValue(line);
        } catch (JsonProcessingException mistake) {
            throw new Misunderstood(mistake.getMessage());
        }
    }

    static String write(Object answer) {
        try {
            return WRITER.writeValueAsString(answer);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** An exception in printable characters. */
    static String text(Throwable failure) {
        StringBuilder plain = new StringBuilder(failure.toString());
        for (int i = 0; i < plain.length(); i++)
            if (plain.charAt(i) < ' ' || plain.charAt(i) > '~') plain.setCharAt(i, ' ');
        return plain.toString();
    }
}
