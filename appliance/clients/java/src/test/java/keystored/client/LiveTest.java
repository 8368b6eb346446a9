// Every behaviour of the library against the running appliance that the environment names.
package keystored.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import keystored.client.api.Approle;
import keystored.client.api.ApproleCreation;
import keystored.client.api.ApproleMerge;
import keystored.client.api.ApprolesMergeOptions;
import keystored.client.api.Cipher;
import keystored.client.api.GenerateSecretIdRequest;
import keystored.client.api.OpenpgpVerifyRequest;
import keystored.client.api.TenantsMergeLists;
import keystored.client.api.TokenCreateRequest;
import keystored.client.api.TokenDisableRequest;
import keystored.client.api.TokenInfoRequest;
import keystored.client.api.TopicsShowOptions;
import keystored.client.api.TransitKeyCreation;
import keystored.client.api.TransitKeyMerge;
import keystored.client.api.TransitKeyState;
import keystored.client.api.TransitKeysListOptions;
import keystored.client.api.TransitKeysMergeOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = "KEYSTORED_TEST_ADDRESS", matches = "https://.*")
class LiveTest {
  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final String UNKNOWN = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6";

  private static String variable(String name) {
    return System.getenv("KEYSTORED_TEST_" + name);
  }

  private static String file(String name) {
    try {
      return Files.readString(Path.of(variable(name)));
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }

  private static Client.Builder live() {
    return Client.builder().address(variable("ADDRESS")).ca(file("CA_FILE"));
  }

  private final Client root = live().token(variable("TOKEN")).build();

  private static String freshName() {
    return "java-" + ProcessHandle.current().pid() + "-" + NAMES.incrementAndGet();
  }

  @Test
  void signsWithOpenPgpOverDataThatIsHashedHere() throws Exception {
    String name = freshName();
    root.transitKeys().create(TransitKeyCreation.builder(name).cipher(Cipher.ECDSA_P384).openpgpUserId("Java <java@example.org>").build());
    byte[] data = "much data ".repeat(100_000).getBytes(UTF_8);
    for (Key key : List.of(root.key(name), root.key(name).withHashAlgorithm("sha512").withKeyVersion(1))) {
      String signature = key.signOpenpgp(new ByteArrayInputStream(data), "1y");
      for (String text : List.of("much data ".repeat(100_000), "less data")) {
        OpenpgpVerifyRequest request =
            OpenpgpVerifyRequest.builder(Base64.getEncoder().encodeToString(text.getBytes(UTF_8))).signature(signature).build();
        assertEquals(text.startsWith("much"), root.transitKeys().openpgpVerify(name, request).valid());
      }
    }
    assertTrue(root.key(name).signOpenpgp(new ByteArrayInputStream(data)).startsWith("-----BEGIN PGP SIGNATURE-----"));
  }

  private Key freshKey() {
    return freshKey(TransitKeyCreation.builder(freshName()).build());
  }

  private Key freshKey(TransitKeyCreation creation) {
    root.transitKeys().create(creation);
    return root.key(creation.name());
  }

  /** A client with an approle of its own. */
  private Client program(String policy, String ttl, String mostTtl) {
    String name = freshName();
    root.approles().create(ApproleCreation.builder(name).tokenPolicies(List.of(policy)).tokenTtl(ttl).tokenMaxTtl(mostTtl).build());
    String roleId = root.approles().show(name).roleId();
    String secretId = root.approles().generateSecretId(name, GenerateSecretIdRequest.builder().build()).secretId();
    return live().approle(roleId, secretId).build();
  }

  private static String accessor(Client client) {
    return client.token().info(TokenInfoRequest.builder().build()).accessor();
  }

  private static ProblemException refused(org.junit.jupiter.api.function.Executable call) {
    return assertThrows(ProblemException.class, call);
  }

  @Test
  void actionsOnAKey() {
    Key key = freshKey(TransitKeyCreation.builder(freshName()).derived(true).build());
    Key bound = key.withContext("tenant 7").withAssociatedData("row 1".getBytes(UTF_8));
    for (byte[] plaintext : List.of(new byte[0], "card 4711".getBytes(UTF_8), new byte[1 << 20])) {
      assertArrayEquals(plaintext, bound.decrypt(bound.rewrap(bound.encrypt(plaintext))));
    }
    Key signer = freshKey(TransitKeyCreation.builder(freshName()).cipher(Cipher.ECDSA_P256).build()).withMarshaling("jws");
    String signature = signer.sign("text".getBytes(UTF_8));
    assertTrue(signer.verify("text".getBytes(UTF_8), signature));
    assertFalse(signer.verify("texts".getBytes(UTF_8), signature));
    Key mac = freshKey();
    assertEquals(mac.hmac("text".getBytes(UTF_8)), mac.hmac("text".getBytes(UTF_8)));
    assertEquals(33, root.random(33).length);
  }

  /** The lines of the README. */
  @Test
  void dataKeyPattern() throws GeneralSecurityException {
    Key key = freshKey();
    byte[] document = "much data ".repeat(100_000).getBytes(UTF_8);

    DataKey dataKey = key.generateDataKey(256);
    byte[] nonce = new byte[12];
    new SecureRandom().nextBytes(nonce);
    javax.crypto.Cipher cipher = javax.crypto.Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(javax.crypto.Cipher.ENCRYPT_MODE, new SecretKeySpec(dataKey.plaintext(), "AES"), new GCMParameterSpec(128, nonce));
    byte[] stored = cipher.doFinal(document); // keep it with nonce and dataKey.ciphertext()

    byte[] opened = key.decrypt(dataKey.ciphertext());
    cipher.init(javax.crypto.Cipher.DECRYPT_MODE, new SecretKeySpec(opened, "AES"), new GCMParameterSpec(128, nonce));
    assertArrayEquals(document, cipher.doFinal(stored));
  }

  @Test
  void renewsTheTokenAndLogsInAgain() throws InterruptedException {
    // Renewed within its longest life of a minute.
    Client renewing = program("user", "3s", "1m");
    String first = accessor(renewing);
    for (int second = 0; second < 6; second++) {
      Thread.sleep(1_000);
      assertEquals(first, accessor(renewing));
    }
    // Its longest life ends: a new login.
    Client replaced = program("user", "3s", "3s");
    first = accessor(replaced);
    Thread.sleep(4_000);
    String second = accessor(replaced);
    assertNotEquals(first, second);
    // Somebody ends it.
    root.token().disable(TokenDisableRequest.builder().accessor(second).build());
    assertNotEquals(second, accessor(replaced));
    // Logging out ends it, and the next call logs in.
    replaced.logOut();
    assertNotNull(accessor(replaced));
  }

  @Test
  void aGivenTokenLivesLonger() throws InterruptedException {
    String token = root.token().create(TokenCreateRequest.builder().policies(List.of("user")).ttl("3s").maxTtl("1m").build()).token();
    Client client = live().token(token).build();
    for (int second = 0; second < 5; second++) {
      accessor(client);
      Thread.sleep(1_000);
    }
    assertEquals("invalid-token", refused(() -> live().token(UNKNOWN).build().logIn()).code());
    assertEquals(401, refused(() -> live().approle(UNKNOWN, "wrong").build().logIn()).status());
  }

  @Test
  void goesOnToTheNextAddress() {
    String[] away = variable("AWAY_ADDRESSES").split(",");
    assertEquals(2, away.length);
    Client.Builder all = Client.builder().ca(file("CA_FILE")).token(variable("TOKEN")).address(away).address(variable("ADDRESS"));
    assertNotNull(all.build().random(1));
    // Sealed all over: the problem says so, at once.
    Client none = Client.builder().ca(file("CA_FILE")).token(variable("TOKEN")).address(away).mostWait(Duration.ofSeconds(1)).build();
    assertEquals("sealed", refused(() -> none.random(1)).code());
  }

  @Test
  void trustsOnlyItsCa() {
    List<Client> wrong =
        List.of(
            Client.builder().address(variable("ADDRESS")).ca(file("OTHER_CA_FILE")).build(),
            Client.builder().address(variable("ADDRESS")).build());
    for (Client client : wrong) {
      TransportException lost = assertThrows(TransportException.class, () -> client.key("k").encrypt(new byte[0]));
      assertFalse(lost.wasSent());
    }
  }

  @Test
  void batchWithItemsThatFail() {
    Key key = freshKey();
    List<EncryptItem> items = new ArrayList<>();
    for (int index = 0; index < 2_500; index++) {
      String context = index % 100 == 7 ? "only derived keys take one" : null;
      items.add(new EncryptItem(String.valueOf(index).getBytes(UTF_8), context, null, String.valueOf(index)));
    }
    List<BatchResult<String>> encrypted = key.encryptBatch(items);
    assertEquals(2_500, encrypted.size());
    List<DecryptItem> ciphertexts = new ArrayList<>();
    for (int index = 0; index < encrypted.size(); index++) {
      BatchResult<String> result = encrypted.get(index);
      assertEquals(String.valueOf(index), result.reference());
      if (index % 100 == 7) assertEquals("context-not-allowed", result.problem().code());
      ciphertexts.add(DecryptItem.of(index % 100 == 7 ? "" : result.get()));
    }
    List<BatchResult<byte[]>> decrypted = key.decryptBatch(ciphertexts);
    for (int index = 0; index < decrypted.size(); index++) {
      BatchResult<byte[]> result = decrypted.get(index);
      if (index % 100 == 7) assertNotNull(result.problem());
      else assertEquals(String.valueOf(index), new String(result.get(), UTF_8));
    }
    // Every item of the request fails.
    List<BatchResult<byte[]>> all = key.decryptBatch(List.of(DecryptItem.of("x"), DecryptItem.of("y")));
    assertTrue(all.stream().allMatch(result -> result.problem() != null));
    // The request as a whole fails.
    assertEquals("not-found", refused(() -> root.key("absent").encryptBatch(items)).code());
  }

  @Test
  void streamOfManyItemsInLittleMemory() {
    Iterator<EncryptItem> items =
        IntStream.range(0, 100_000).mapToObj(index -> EncryptItem.of(String.format("%0200d", index).getBytes(UTF_8))).iterator();
    long most = 0;
    int seen = 0;
    try (BatchStream<String> stream = freshKey().encryptStream(items)) {
      while (stream.hasNext()) {
        assertNotNull(stream.next().get());
        if (++seen % 10_000 == 0) {
          System.gc();
          most = Math.max(most, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
      }
    }
    System.out.printf("%d results, at most %d KiB in the heap%n", seen, most >> 10);
    assertEquals(100_000, seen);
    // All results together have 40 MB and more.
    assertTrue(most < 40 << 20, most + " octets");
  }

  @Test
  void anInterruptionEndsAStream() throws InterruptedException {
    Key key = freshKey();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Iterator<EncryptItem> endless = IntStream.iterate(0, index -> index).mapToObj(index -> EncryptItem.of(new byte[1])).iterator();
    Thread reader =
        new Thread(
            () -> {
              try (BatchStream<String> stream = key.encryptStream(endless)) {
                while (true) stream.next();
              } catch (TransportException ended) {
                failure.set(ended.getCause());
              }
            });
    reader.start();
    Thread.sleep(1_000);
    reader.interrupt();
    reader.join(10_000);
    assertInstanceOf(InterruptedException.class, failure.get());
  }

  @Test
  void problems() {
    Key key = freshKey();
    String name = freshName();
    root.transitKeys().create(TransitKeyCreation.builder(name).build());
    Client small = program("rewrap-only", "1h", "1h");
    TransitKeysMergeOptions stale = TransitKeysMergeOptions.builder().ifMatch("\"stale\"").build();
    Map<String, org.junit.jupiter.api.function.Executable> calls = new LinkedHashMap<>();
    calls.put("400 unsupported-cipher", () -> freshKey(TransitKeyCreation.builder(freshName()).cipher(new Cipher("rot13")).build()));
    calls.put("400 decryption-failed", () -> key.decrypt("store:v1:" + "A".repeat(43) + "="));
    calls.put("403 policy-denied", () -> small.transitKeys().list());
    calls.put("404 not-found", () -> root.key("absent").encrypt(new byte[0]));
    calls.put("409 deletion-not-allowed", () -> root.transitKeys().delete(name));
    calls.put("409 already-exists", () -> root.transitKeys().create(TransitKeyCreation.builder(name).build()));
    calls.put("412 precondition-failed", () -> root.transitKeys().merge(name, TransitKeyMerge.builder().build(), stale));
    calls.put("413 payload-too-large", () -> key.encrypt(new byte[4 << 20]));
    calls.forEach(
        (expected, call) -> {
          ProblemException problem = refused(call);
          assertEquals(expected, problem.status() + " " + problem.code());
          assertNotNull(problem.requestId(), expected);
          assertNotNull(problem.detail(), expected);
        });
  }

  @Test
  void mergeResetsNothing() {
    String name = freshName();
    root.approles().create(ApproleCreation.builder(name).tokenPolicies(List.of("user")).tokenTtl("2h").secretIdNumUses(5L).build());
    AtomicReference<String> tag = new AtomicReference<>();
    Approle before = root.onHeaders(headers -> tag.set(headers.firstValue("etag").orElseThrow())).approles().showConfig(name);
    ApprolesMergeOptions options = ApprolesMergeOptions.builder().ifMatch(tag.get()).build();
    ApproleMerge merge = ApproleMerge.builder().tokenTtl("1h").build();
    root.approles().merge(name, merge, options);
    Approle after = root.approles().showConfig(name);
    assertEquals(List.of("1h", before.tokenMaxTtl()), List.of(after.tokenTtl(), after.tokenMaxTtl()));
    assertEquals(List.of("user"), after.tokenPolicies());
    assertEquals(5L, after.secretIdNumUses());
    // Lists are united unless the call says otherwise; an empty one is not an absent one.
    ApprolesMergeOptions replace = ApprolesMergeOptions.builder().lists(TenantsMergeLists.REPLACE).build();
    root.approles().merge(name, ApproleMerge.builder().tokenPolicies(List.of()).build(), replace);
    assertEquals(List.of(), root.approles().showConfig(name).tokenPolicies());
    assertEquals(5L, root.approles().showConfig(name).secretIdNumUses());
    // What is removed gets its default.
    root.approles().merge(name, ApproleMerge.builder().removeFixedRoleId().build());
    // The tag is that of before: somebody else was there.
    assertEquals(412, refused(() -> root.approles().merge(name, merge, options)).status());
  }

  @Test
  void lists() {
    for (int index = 0; index < 5; index++) freshKey();
    TransitKeysListOptions small = TransitKeysListOptions.builder().limit(2L).build();
    Page<TransitKeyState> page = root.transitKeys().list(small);
    assertEquals(2, page.items().size());
    assertTrue(page.total() >= 5 && page.hasNext());
    // What the methods leave out.
    assertFalse(root.send("GET", "/v1/state/keystore/transit-keys?fields=name", null).toString().contains("cipher"));
    Set<String> names = new HashSet<>();
    for (TransitKeyState key : root.transitKeys().listEach(small)) {
      assertTrue(names.add(key.name()), key.name());
      assertNotNull(key.creationTime());
    }
    assertTrue(names.size() >= page.total());
  }

  @Test
  void streamsAndText() {
    try (JsonLines lines = root.topics().show("system:audit-trail-log", TopicsShowOptions.builder().limit(3L).build())) {
      int seen = 0;
      while (lines.hasNext()) {
        assertTrue(lines.next().isObject());
        seen++;
      }
      assertEquals(3, seen);
    }
    assertTrue(root.metrics().show().contains("keystored_"));
    // An endless answer ends with its reader.
    try (JsonLines lines = root.topics().show("system:audit-trail-log", TopicsShowOptions.builder().follow(true).build())) {
      assertTrue(Arrays.asList(true, false).contains(lines.hasNext()));
    }
  }
}
