// What a client was made with, checked once.
package keystored.client.internal;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import keystored.client.Workload;

/**
 * What a client was made with.
 *
 * @param addresses base addresses, in order of preference
 * @param caPem the certificates that are trusted, and no others; null: those of the machine
 * @param token a given token, or null
 * @param roleId of an approle, or null
 * @param secretId of that approle, or null
 * @param workload an identity that a platform signs, or null
 * @param timeLimit for a call with its repetitions
 * @param attempts how often a request is sent to all addresses
 * @param mostWait the longest pause between two attempts
 * @param product stands before the name of this library in User-Agent; may be empty
 */
public record Settings(
    List<String> addresses,
    String caPem,
    String token,
    String roleId,
    String secretId,
    Workload workload,
    Duration timeLimit,
    int attempts,
    Duration mostWait,
    String product) {
  /** Throws IllegalArgumentException for what cannot be meant. */
  public Settings {
    require(!addresses.isEmpty(), "an address is needed");
    long identities = Stream.of(token != null, roleId != null || secretId != null, workload != null).filter(given -> given).count();
    require(identities <= 1, "give one of a token, an approle and a workload");
    require((roleId == null) == (secretId == null), "role-id and secret-id belong together");
    require(token == null || !token.isBlank() && token.equals(token.strip()), "the token is empty or has space around it");
    require(attempts >= 1, "at least one attempt is needed");
    require(!timeLimit.isNegative() && !timeLimit.isZero(), "the time limit must be above zero");
    addresses = addresses.stream().map(Settings::base).toList();
  }

  @Override
  public String toString() {
    return "Settings" + addresses;
  }

  private static String base(String address) {
    URI uri = URI.create(address);
    boolean isPlain = uri.getHost() != null && uri.getUserInfo() == null && uri.getQuery() == null && uri.getFragment() == null;
    require(isPlain, "the address \"" + uri.getHost() + "\" is not of the form https://host:port");
    boolean isLocal = "http".equals(uri.getScheme()) && List.of("localhost", "127.0.0.1", "[::1]").contains(uri.getHost());
    require("https".equals(uri.getScheme()) || isLocal, "the address " + address + " must begin with https; http is for loopback addresses only");
    return address.replaceFirst("/+$", "");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) throw new IllegalArgumentException(otherwise);
  }

  /** Trust in the given certificates only; null for the trust of the machine. */
  SSLContext trust() {
    if (caPem == null) return null;
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      int index = 0;
      for (Certificate certificate : certificates()) trusted.setCertificateEntry("ca-" + index++, certificate);
      TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, factory.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException unusable) {
      throw new IllegalArgumentException("the CA certificates cannot be used: " + unusable.getMessage(), unusable);
    }
  }

  private Collection<? extends Certificate> certificates() throws CertificateException {
    byte[] pem = caPem.getBytes(StandardCharsets.US_ASCII);
    Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
    require(!found.isEmpty(), "the CA file holds no certificate in PEM");
    return found;
  }
}
