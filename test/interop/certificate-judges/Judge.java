// Judges a certificate below a CA with PKIX and its revocation lists: java Judge.java jdk|bc FOLDER LISTS..., where the folder has ca.pem and leaf.pem. It
// prints the algorithm of the certificate and the judgement; Bouncy Castle takes delta lists too.
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.security.cert.CertPathParameters;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertStore;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bouncycastle.jcajce.PKIXExtendedParameters;
import org.bouncycastle.jce.provider.BouncyCastleProvider;

public class Judge {
  public static void main(String[] words) throws Exception {
    boolean isBouncyCastle = words[0].equals("bc");
    if (isBouncyCastle) Security.addProvider(new BouncyCastleProvider());
    CertificateFactory factory = isBouncyCastle ? CertificateFactory.getInstance("X.509", "BC") : CertificateFactory.getInstance("X.509");
    Path folder = Path.of(words[1]);
    X509Certificate authority = certificate(factory, folder.resolve("ca.pem"));
    X509Certificate leaf = certificate(factory, folder.resolve("leaf.pem"));
    List<Object> lists = new ArrayList<>();
    for (int index = 2; index < words.length; index++) {
      try (InputStream list = Files.newInputStream(folder.resolve(words[index]))) {
        lists.add(factory.generateCRL(list));
      }
    }
    PKIXParameters parameters = new PKIXParameters(Set.of(new TrustAnchor(authority, null)));
    parameters.addCertStore(CertStore.getInstance("Collection", new CollectionCertStoreParameters(lists)));
    CertPathParameters rules =
        isBouncyCastle ? new PKIXExtendedParameters.Builder(parameters).setUseDeltasEnabled(true).build() : parameters;
    CertPathValidator validator = isBouncyCastle ? CertPathValidator.getInstance("PKIX", "BC") : CertPathValidator.getInstance("PKIX");
    String judgement = "valid";
    try {
      validator.validate(factory.generateCertPath(List.of(leaf)), rules);
    } catch (CertPathValidatorException refusal) {
      judgement = refusal.getMessage();
    }
    System.out.println(leaf.getSigAlgName() + ": " + judgement);
  }

  private static X509Certificate certificate(CertificateFactory factory, Path file) throws Exception {
    try (InputStream content = Files.newInputStream(file)) {
      return (X509Certificate) factory.generateCertificate(content);
    }
  }
}
