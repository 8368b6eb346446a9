// JSON as the API speaks it: absent fields are null, unknown ones are left out, times are RFC 3339.
package keystored.client.internal;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;

/** JSON as the API speaks it. */
final class Json {
  static final ObjectMapper MAPPER =
      new ObjectMapper()
          .setSerializationInclusion(JsonInclude.Include.NON_NULL)
          .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false)
          .registerModule(new SimpleModule().addSerializer(Instant.class, new InstantWriter()).addDeserializer(Instant.class, new InstantReader()));

  private Json() {}

  static byte[] write(Object document) {
    try {
      return MAPPER.writeValueAsBytes(document);
    } catch (JsonProcessingException notWritable) {
      throw new IllegalArgumentException("The document cannot be written as JSON: " + notWritable.getOriginalMessage(), notWritable);
    }
  }

  static <T> T read(byte[] json, JavaType type) throws IOException {
    return MAPPER.readValue(json, type);
  }

  private static final class InstantWriter extends StdScalarSerializer<Instant> {
    private static final long serialVersionUID = 1;

    InstantWriter() {
      super(Instant.class);
    }

    @Override
    public void serialize(Instant value, JsonGenerator generator, SerializerProvider provider) throws IOException {
      generator.writeString(value.toString());
    }
  }

  private static final class InstantReader extends StdScalarDeserializer<Instant> {
    private static final long serialVersionUID = 1;

    InstantReader() {
      super(Instant.class);
    }

    @Override
    public Instant deserialize(JsonParser parser, DeserializationContext context) throws IOException {
      String text = parser.getText();
      try {
        return OffsetDateTime.parse(text).toInstant();
      } catch (DateTimeException notATime) {
        return (Instant) context.handleWeirdStringValue(Instant.class, text, "is not a time of RFC 3339");
      }
    }
  }
}
