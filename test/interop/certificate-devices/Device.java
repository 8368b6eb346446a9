// A device in Java, with the JDK alone: it enrols by EST, logs in with its certificate, and uses a key. It prints the ciphertext.
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Device {
  private static final char[] PASSWORD = "of the file".toCharArray();

  public static void main(String[] words) throws Exception {
    String enrolAt = words[0];
    String secret = words[1];
    String keystore = words[2];
    String name = words[3];
    Path directory = Path.of(words[5]);
    CertificateFactory certificates = CertificateFactory.getInstance("X.509");
    KeyStore trust = KeyStore.getInstance(KeyStore.getDefaultType());
    trust.load(null);
    for (Certificate root : certificates.generateCertificates(Files.newInputStream(Path.of(words[4])))) {
      trust.setCertificateEntry("root" + trust.size(), root);
    }

    Path file = directory.resolve("device.p12");
    Path request = directory.resolve("device.csr");
    keytool("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=" + name, "-alias", "device", "-keystore", file.toString());
    keytool("-certreq", "-ext", "san=dns:" + name, "-alias", "device", "-keystore", file.toString(), "-file", request.toString());
    String csr = Files.readString(request).replaceAll("-----[^-]+-----", "").strip();
    HttpRequest enrolment = HttpRequest.newBuilder(URI.create(enrolAt + "/simpleenroll"))
        .header("Content-Type", "application/pkcs10")
        .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(("est:" + secret).getBytes()))
        .POST(HttpRequest.BodyPublishers.ofString(csr))
        .build();
    var enrolled = HttpClient.newBuilder().sslContext(contextOf(trust, null)).build().send(enrolment, BodyHandlers.ofString());
    if (enrolled.statusCode() != 200) throw new IllegalStateException(enrolled.statusCode() + " " + enrolled.body());
    byte[] answer = Base64.getMimeDecoder().decode(enrolled.body());
    var chain = certificates.generateCertificates(new ByteArrayInputStream(answer)).toArray(new Certificate[0]);
    KeyStore own = KeyStore.getInstance(file.toFile(), PASSWORD);
    PrivateKey key = (PrivateKey) own.getKey("device", PASSWORD);
    own.setKeyEntry("device", key, PASSWORD, new Certificate[] {chain[0]});

    HttpClient client = HttpClient.newBuilder().sslContext(contextOf(trust, own)).build();
    String token = valueIn(post(client, keystore + "/v1/certificate-login", "", "{\"tenant\":\"system\",\"role\":\"sensors\"}"), "token");
    String encrypt = keystore + "/v1/state/keystore/transit-keys/readings/encrypt";
    System.out.println(valueIn(post(client, encrypt, token, "{\"plaintext\":\"MjEuNQ==\"}"), "ciphertext"));
  }

  private static String post(HttpClient client, String url, String token, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url)).header("Content-Type", "application/json");
    if (!token.isEmpty()) request.header("Authorization", "Bearer " + token);
    var answer = client.send(request.POST(HttpRequest.BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException(url + ": " + answer.statusCode() + " " + answer.body());
    return answer.body();
  }

  private static String valueIn(String json, String name) {
    var found = Pattern.compile("\"" + name + "\":\"([^\"]+)\"").matcher(json);
    if (!found.find()) throw new IllegalStateException("no " + name + " in " + json);
    return found.group(1);
  }

  private static SSLContext contextOf(KeyStore trust, KeyStore own) throws Exception {
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(trust);
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(own, own == null ? null : PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own == null ? null : keys.getKeyManagers(), trusted.getTrustManagers(), null);
    return context;
  }

  private static void keytool(String... words) throws Exception {
    var all = new java.util.ArrayList<String>(java.util.List.of("keytool"));
    all.addAll(java.util.List.of(words));
    all.addAll(java.util.List.of("-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) throw new IllegalStateException(said);
  }
}
