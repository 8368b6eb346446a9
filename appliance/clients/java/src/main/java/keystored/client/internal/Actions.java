// Sends the actions on one transit key: one item, or many in batches.
package keystored.client.internal;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.SecretKey;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import keystored.client.BatchResult;
import keystored.client.DataKey;
import keystored.client.ProblemException;

/**
 * Sends the actions on one transit key.
 *
 * @param sender sends the calls
 * @param key the name of the key
 * @param options for all actions
 */
public record Actions(Sender sender, String key, Action.Options options) {
  private static final int MOST_ITEMS = 1_000;
  /** Leaves room below the 4 MiB of a request. */
  private static final int MOST_BYTES = 3 << 20;

  private static final Operation DATA_KEY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/generate-data-key", Link.JSON, Operation.Trait.IDEMPOTENT);

  private static final Operation TRAILER =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/openpgp-trailer", Link.JSON, Operation.Trait.IDEMPOTENT);

  private static final Operation SIGN_DIGEST =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/openpgp-sign-digest", Link.JSON, Operation.Trait.IDEMPOTENT);

  /** One request of a stream: its items encoded, and their references. */
  record Batch(List<byte[]> items, List<String> references) {
    byte[] body() {
      ByteArrayOutputStream body = new ByteArrayOutputStream(MOST_BYTES / 16);
      body.writeBytes("{\"batch-input\":[".getBytes(StandardCharsets.US_ASCII));
      for (int index = 0; index < items.size(); index++) {
        if (index > 0) body.write(',');
        body.writeBytes(items.get(index));
      }
      body.writeBytes("]}".getBytes(StandardCharsets.US_ASCII));
      return body.toByteArray();
    }
  }

  /**
   * Sends one item.
   *
   * @param action what to do
   * @param item with what
   * @param <I> of the item
   * @param <R> of the result
   * @return the result
   */
  public <I, R> R one(Action<I, R> action, I item) {
    Action.Wire wire = action.wire().apply(item).complete(options);
    return required(action.read().apply(sender.json(action.single(), new Parts(key).body(wire), Action.Result.class)));
  }

  /**
   * Makes a data key.
   *
   * @param bits 128, 256 or 512
   * @return the data key
   */
  public DataKey dataKey(int bits) {
    record Body(
        @JsonProperty("type") String type,
        @JsonProperty("bits") int bits,
        @JsonProperty("context") String context,
        @JsonProperty("associated-data") byte[] associatedData,
        @JsonProperty("key-version") Long keyVersion) {}
    Body body = new Body("plaintext", bits, options.context(), options.associatedData(), options.keyVersion());
    Action.Result result = sender.json(DATA_KEY, new Parts(key).body(body), Action.Result.class);
    return new DataKey(required(result.plaintext()), required(result.ciphertext()), required(result.keyVersion()));
  }

  private static final Operation IMPORT_WRAPPING_KEY =
      new Operation("POST", "/v1/state/keystore/transit-keys/{}/import-wrapping-key", Link.JSON);

  private static final Operation IMPORT = new Operation("POST", "/v1/state/keystore/transit-keys/{}/import", "");

  /**
   * Imports a key, wrapped here: RSA-OAEP of a fresh AES key, then that key's wrap of the material (RFC 5649), as CKM_RSA_AES_KEY_WRAP has it.
   *
   * @param material PKCS#8 of a private key, or the octets of a symmetric key
   */
  public void importWrapped(byte[] material) {
    record Made(@JsonProperty("wrapping-key") String wrappingKey, @JsonProperty("import-id") String importId) {}
    record Body(@JsonProperty("ciphertext") byte[] ciphertext, @JsonProperty("import-id") String importId) {}
    Made made = sender.json(IMPORT_WRAPPING_KEY, new Parts(key).body(Map.of()), Made.class);
    sender.nothing(IMPORT, new Parts(key).body(new Body(wrapped(required(made.wrappingKey()), material), required(made.importId()))));
  }

  private static byte[] wrapped(String wrappingKey, byte[] material) {
    try {
      byte[] der = Base64.getMimeDecoder().decode(wrappingKey.replaceAll("-----[^-]+-----", ""));
      KeyGenerator aes = KeyGenerator.getInstance("AES");
      aes.init(256);
      SecretKey transport = aes.generateKey();
      Cipher oaep = Cipher.getInstance("RSA/ECB/OAEPPadding");
      oaep.init(
          Cipher.ENCRYPT_MODE,
          KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(der)),
          new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT));
      Cipher kwp = Cipher.getInstance("AES/KWP/NoPadding");
      kwp.init(Cipher.ENCRYPT_MODE, transport);
      ByteArrayOutputStream both = new ByteArrayOutputStream();
      both.writeBytes(oaep.doFinal(transport.getEncoded()));
      both.writeBytes(kwp.doFinal(material));
      return both.toByteArray();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("this Java cannot wrap the key", impossible);
    }
  }

  /** The date of a signature is in its trailer, which is asked for again when hashing took longer. */
  private static final Duration FRESH_TRAILER = Duration.ofMinutes(1);

  private record TrailerRequest(
      @JsonProperty("key-version") Long keyVersion,
      @JsonProperty("expires-after") String expiresAfter,
      @JsonProperty("hash-algorithm") String hashAlgorithm) {}

  private record Trailer(
      @JsonProperty("trailer") byte[] octets, @JsonProperty("hash-algorithm") String hashAlgorithm, @JsonProperty("key-version") long keyVersion) {}

  /**
   * Signs data with an OpenPGP key, hashed here.
   *
   * @param source of the data
   * @param expiresAfter duration of the signature; null: without limit
   * @return the detached signature in armor
   * @throws IOException of the source
   */
  public String signOpenpgp(InputStream source, String expiresAfter) throws IOException {
    record Body(@JsonProperty("trailer") byte[] trailer, @JsonProperty("digest") byte[] digest) {}
    record Answer(@JsonProperty("signature") String signature) {}
    long asked = System.nanoTime();
    Trailer trailer = trailer(new TrailerRequest(options.keyVersion(), expiresAfter, options.hashAlgorithm()));
    MessageDigest digest = digestOf(trailer.hashAlgorithm());
    byte[] piece = new byte[1 << 16];
    for (int length = source.read(piece); length >= 0; length = source.read(piece)) digest.update(piece, 0, length);
    if (System.nanoTime() - asked > FRESH_TRAILER.toNanos()) {
      trailer = trailer(new TrailerRequest(trailer.keyVersion(), expiresAfter, trailer.hashAlgorithm()));
    }
    digest.update(trailer.octets());
    Body body = new Body(trailer.octets(), digest.digest());
    return required(sender.json(SIGN_DIGEST, new Parts(key).body(body), Answer.class).signature());
  }

  private Trailer trailer(TrailerRequest request) {
    return sender.json(TRAILER, new Parts(key).body(request), Trailer.class);
  }

  private static MessageDigest digestOf(String algorithm) {
    try {
      return MessageDigest.getInstance(required(algorithm).toUpperCase(Locale.ROOT).replace("SHA", "SHA-"));
    } catch (NoSuchAlgorithmException unknown) {
      throw new IllegalStateException("the hash " + algorithm + " is not known here", unknown);
    }
  }

  private static <T> T required(T value) {
    if (value == null) throw new IllegalStateException("the answer does not have the result");
    return value;
  }

  /** Takes items for the next request, until it is full or there are no more; an item that is too large goes alone. */
  <I> Batch take(Action<I, ?> action, PeekingItems<? extends I> items) {
    Batch batch = new Batch(new ArrayList<>(), new ArrayList<>());
    int size = 0;
    while (batch.items.size() < MOST_ITEMS && items.hasNext()) {
      byte[] encoded = items.peek(item -> sender.encode(action.wire().apply(item).complete(options)));
      if (!batch.items.isEmpty() && size + encoded.length + 1 > MOST_BYTES) break;
      batch.items.add(encoded);
      batch.references.add(action.wire().apply(items.next()).reference());
      size += encoded.length + 1;
    }
    return batch;
  }

  <R> List<BatchResult<R>> send(Action<?, R> action, Batch batch) {
    record Answer(@JsonProperty("batch-results") List<Action.Result> results) {}
    List<Action.Result> results;
    try {
      Parts parts = new Parts(key).octets(Link.JSON, batch.body());
      results = sender.json(action.batch(), parts, new TypeReference<Answer>() {}).results();
    } catch (ProblemException problem) {
      // One item that alone is too large is a fault of that item.
      if (batch.items.size() == 1 && problem.status() == 413) return List.of(new BatchResult<>(null, problem, batch.references.get(0)));
      throw problem;
    }
    if (results == null || results.size() != batch.items.size()) {
      throw new IllegalStateException("the answer to a batch has another number of results than the batch has items");
    }
    List<BatchResult<R>> joined = new ArrayList<>(results.size());
    Iterator<String> references = batch.references.iterator();
    for (Action.Result result : results) {
      ProblemException problem = result.code() == null ? null : ProblemException.ofItem(result.status(), result.code(), result.errorMessage());
      joined.add(new BatchResult<>(problem == null ? required(action.read().apply(result)) : null, problem, references.next()));
    }
    return joined;
  }
}
