package org.elrcheck.broker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonSubTypes.Type;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** A line to the driver. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
    @Type(Event.class),
    @Type(name = "Together", value = Together.class),
    @Type(name = "Truncation", value = Truncation.class),
})
interface Question {
    /** The record to answer with. */
    Object answer(Brokers brokers);
}
