// Sealed data: the vectors that all client libraries share, what is found of changes, and the bounds of cached data keys.
package keystored.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

class SealedTest {
  private static final int WHOLE = Sealed.PIECE_BYTES + Sealed.TAG_BYTES;

  private static byte[] plaintext(int length) {
    byte[] octets = new byte[length];
    for (int index = 0; index < length; index++) octets[index] = (byte) (index + 3 * (index >> 8) + 5 * (index >> 16));
    return octets;
  }

  private static byte[] sealed(byte[] plaintext, byte[] dataKey, String wrapped, byte[] salt, byte[] prefix) throws IOException {
    return Sealed.seal(new ByteArrayInputStream(plaintext), new DataKey(dataKey.clone(), wrapped, 1), salt, prefix).readAllBytes();
  }

  private static byte[] opened(byte[] sealed, byte[] dataKey) throws IOException {
    ByteArrayInputStream source = new ByteArrayInputStream(sealed);
    byte[] header = source.readNBytes(Sealed.HEADER_BYTES);
    assertNotNull(Sealed.wrappedKeyOf(header));
    return Sealed.open(source, dataKey.clone(), header).readAllBytes();
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "KEYSTORED_TEST_SEALED_VECTORS", matches = ".+")
  void vectors() throws IOException, GeneralSecurityException {
    HexFormat hex = HexFormat.of();
    JsonNode vectors = new ObjectMapper().readTree(new File(System.getenv("KEYSTORED_TEST_SEALED_VECTORS")));
    assertEquals(8, vectors.size());
    for (JsonNode vector : vectors) {
      byte[] dataKey = hex.parseHex(vector.get("data-key").asText());
      byte[] plaintext = plaintext(vector.get("length").asInt());
      byte[] salt = hex.parseHex(vector.get("salt").asText());
      byte[] prefix = hex.parseHex(vector.get("nonce-prefix").asText());
      byte[] sealed = sealed(plaintext, dataKey, vector.get("wrapped-key").asText(), salt, prefix);
      assertEquals(vector.get("sha-256").asText(), hex.formatHex(MessageDigest.getInstance("SHA-256").digest(sealed)));
      assertArrayEquals(plaintext, opened(sealed, dataKey));
    }
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (byte[] part : parts) whole.writeBytes(part);
    return whole.toByteArray();
  }

  private static byte[] flipped(byte[] octets, int at) {
    byte[] copy = octets.clone();
    copy[at] ^= 1;
    return copy;
  }

  @Test
  void whatWasChangedIsFound() throws IOException {
    byte[] dataKey = "0123456789abcdef0123456789abcdef".getBytes(UTF_8);
    byte[] sealed = sealed(plaintext(3 * Sealed.PIECE_BYTES), dataKey, "store:v1:AAAA", new byte[32], new byte[7]);
    byte[] header = Arrays.copyOf(sealed, Sealed.HEADER_BYTES);
    byte[][] pieces = new byte[3][];
    for (int index = 0; index < 3; index++) {
      pieces[index] = Arrays.copyOfRange(sealed, Sealed.HEADER_BYTES + index * WHOLE, Sealed.HEADER_BYTES + (index + 1) * WHOLE);
    }
    Map<String, byte[]> changes = new LinkedHashMap<>();
    changes.put("nothing", new byte[0]);
    changes.put("half of a header", Arrays.copyOf(header, 500));
    changes.put("no pieces", header);
    changes.put("the last piece missing", join(header, pieces[0], pieces[1]));
    changes.put("cut off", Arrays.copyOf(sealed, sealed.length - 1));
    changes.put("another order", join(header, pieces[1], pieces[0], pieces[2]));
    changes.put("a piece twice", join(header, pieces[0], pieces[0], pieces[1], pieces[2]));
    changes.put("an octet more", Arrays.copyOf(sealed, sealed.length + 1));
    changes.put("a piece more", join(sealed, pieces[2]));
    changes.put("an empty piece more", Arrays.copyOf(sealed, sealed.length + Sealed.TAG_BYTES));
    for (int at : new int[] {7, 8, 40, 47, 80, Sealed.HEADER_BYTES - 1, Sealed.HEADER_BYTES + WHOLE, sealed.length - 1}) {
      changes.put("octet " + at, flipped(sealed, at));
    }
    changes.forEach((name, changed) -> assertThrows(SealedDataException.class, () -> opened(changed, dataKey), name));
    assertThrows(SealedDataException.class, () -> opened(sealed, new byte[32]));
    assertThrows(SealedDataException.class, () -> opened(sealed, new byte[16]));
    assertArrayEquals(plaintext(3 * Sealed.PIECE_BYTES), opened(join(Sealed.rewrapped(header, "store:v12:BBBBBB"), join(pieces)), dataKey));
  }

  @Test
  void dataKeysAreCachedWithinTheirBounds() throws InterruptedException {
    DataKeyCache cache = new DataKeyCache(3, Duration.ofMillis(200), 2);
    Object client = new Object();
    int[] asked = new int[1];
    byte[][] given = new byte[9][];
    Function<String, DataKey> taken =
        name ->
            cache.take(
                client,
                List.of(name),
                () -> {
                  given[asked[0]++] = new byte[] {1, 2, 3};
                  return new DataKey(given[asked[0] - 1], name, 1);
                });
    for (int use = 0; use < 3; use++) assertArrayEquals(new byte[] {1, 2, 3}, taken.apply("a").plaintext());
    assertEquals(1, asked[0]);
    assertEquals(0, cache.size());
    for (String name : List.of("a", "b", "c")) assertNotNull(taken.apply(name));
    assertEquals(2, cache.size());
    assertNotNull(taken.apply("b"));
    assertEquals(4, asked[0]);
    assertThrows(IllegalArgumentException.class, () -> cache.take(new Object(), List.of("b"), () -> null));
    Thread.sleep(250);
    assertEquals(0, cache.size());
    assertThrows(IllegalArgumentException.class, () -> new DataKeyCache(1, Duration.ZERO));
  }
}
