// Enrols with jscep: a first certificate, a refused request, GetCRL, GetCert and a renewal; prints a line for each.
// Arguments: URL of the CA, secret, subject; without-renewal ends before GetCert, wait polls for a certificate that a person decides on.
import java.math.BigInteger;
import java.net.URL;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.util.Date;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.DERUTF8String;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;
import org.jscep.client.Client;
import org.jscep.client.EnrollmentResponse;
import org.jscep.client.verification.OptimisticCertificateVerifier;

public class Enrol {
  public static void main(String[] arguments) throws Exception {
    X500Name subject = new X500Name(arguments[2]);
    KeyPair keys = fresh();
    ContentSigner signer = new JcaContentSignerBuilder("SHA256withRSA").build(keys.getPrivate());
    Date now = new Date();
    X509Certificate own = new JcaX509CertificateConverter().getCertificate(
      new JcaX509v3CertificateBuilder(subject, BigInteger.ONE, new Date(now.getTime() - 3600000L), new Date(now.getTime() + 86400000L), subject, keys.getPublic()).build(signer));
    Client client = new Client(new URL(arguments[0]), new OptimisticCertificateVerifier());

    if (arguments.length > 3 && arguments[3].equals("wait")) {
      EnrollmentResponse asked = client.enrol(own, keys.getPrivate(), request(subject, keys, signer, arguments[1]));
      System.out.println("waits " + asked.isPending());
      int polls = 0;
      while (asked.isPending() && polls < 100) {
        Thread.sleep(500);
        polls += 1;
        asked = client.poll(own, keys.getPrivate(), new X500Principal(subject.getEncoded()), asked.getTransactionId());
      }
      if (asked.isSuccess()) {
        X509Certificate got = (X509Certificate) asked.getCertStore().getCertificates(null).iterator().next();
        System.out.println("enrolled " + got.getSerialNumber().toString(16) + " " + got.getSubjectX500Principal().getName());
      }
      return;
    }

    EnrollmentResponse refused = client.enrol(own, keys.getPrivate(), request(subject, keys, signer, "wrong secret"));
    System.out.println("refused " + refused.isFailure());

    KeyPair others = fresh();
    ContentSigner otherSigner = new JcaContentSignerBuilder("SHA256withRSA").build(others.getPrivate());
    EnrollmentResponse response = client.enrol(own, keys.getPrivate(), request(subject, keys, signer, arguments[1]));
    X509Certificate first = (X509Certificate) response.getCertStore().getCertificates(null).iterator().next();
    System.out.println("enrolled " + first.getSerialNumber().toString(16) + " " + first.getSubjectX500Principal().getName());

    X509CRL list = client.getRevocationList(own, keys.getPrivate(), first.getIssuerX500Principal(), first.getSerialNumber());
    System.out.println("list " + list.getIssuerX500Principal().equals(first.getIssuerX500Principal()));

    if (arguments.length > 3) return;
    X509Certificate again = (X509Certificate) client.getCertificate(first, keys.getPrivate(), first.getSerialNumber()).getCertificates(null).iterator().next();
    System.out.println("found " + again.equals(first));
    EnrollmentResponse renewal = client.enrol(first, keys.getPrivate(), request(subject, others, otherSigner, null));
    X509Certificate second = (X509Certificate) renewal.getCertStore().getCertificates(null).iterator().next();
    System.out.println("renewed " + second.getSerialNumber().toString(16) + " " + second.getPublicKey().equals(others.getPublic()));
  }

  private static KeyPair fresh() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    return generator.generateKeyPair();
  }

  private static PKCS10CertificationRequest request(X500Name subject, KeyPair keys, ContentSigner signer, String password) {
    JcaPKCS10CertificationRequestBuilder builder = new JcaPKCS10CertificationRequestBuilder(subject, keys.getPublic());
    if (password != null) builder.addAttribute(PKCSObjectIdentifiers.pkcs_9_at_challengePassword, new DERUTF8String(password));
    return builder.build(signer);
  }
}
