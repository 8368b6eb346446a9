// Bouncy Castle against CMP: URL REFERENCE SECRET [pbmac1] [ml-dsa]. Enrols by ir under a MAC, polls while a person decides, confirms, updates by kur under its signature, asks for caCerts, revokes.
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.util.Date;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.DERNull;
import org.bouncycastle.asn1.cmp.CMPCertificate;
import org.bouncycastle.asn1.cmp.CMPObjectIdentifiers;
import org.bouncycastle.asn1.cmp.CertConfirmContent;
import org.bouncycastle.asn1.cmp.CertRepMessage;
import org.bouncycastle.asn1.cmp.CertStatus;
import org.bouncycastle.asn1.cmp.GenMsgContent;
import org.bouncycastle.asn1.cmp.InfoTypeAndValue;
import org.bouncycastle.asn1.cmp.PKIBody;
import org.bouncycastle.asn1.cmp.PKIMessage;
import org.bouncycastle.asn1.cmp.PBMParameter;
import org.bouncycastle.asn1.cmp.PollReqContent;
import org.bouncycastle.asn1.cmp.RevDetails;
import org.bouncycastle.asn1.cmp.RevReqContent;
import org.bouncycastle.asn1.cmp.RevRepContent;
import org.bouncycastle.asn1.crmf.CertReqMessages;
import org.bouncycastle.asn1.crmf.CertReqMsg;
import org.bouncycastle.asn1.crmf.CertTemplateBuilder;
import org.bouncycastle.asn1.oiw.OIWObjectIdentifiers;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.cmp.GeneralPKIMessage;
import org.bouncycastle.cert.cmp.ProtectedPKIMessage;
import org.bouncycastle.cert.cmp.ProtectedPKIMessageBuilder;
import org.bouncycastle.cert.crmf.CertificateRequestMessageBuilder;
import org.bouncycastle.cert.crmf.PKMACBuilder;
import org.bouncycastle.cert.crmf.jcajce.JcePKMACValuesCalculator;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.MacCalculator;
import org.bouncycastle.operator.PBEMacCalculatorProvider;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.jcajce.JcePBMac1CalculatorBuilder;
import org.bouncycastle.pkcs.jcajce.JcePBMac1CalculatorProviderBuilder;

public class Enrol {
  static final BouncyCastleProvider provider = new BouncyCastleProvider();
  static final SecureRandom random = new SecureRandom();
  static final X500Name subject = new X500Name("CN=dev.example.test");
  static String url, secret;
  static byte[] reference, nonce, transaction;
  static boolean isPbmac1;
  static String signature = "SHA256withECDSA";

  public static void main(String[] args) throws Exception {
    url = args[0];
    reference = args[1].getBytes();
    secret = args[2];
    java.util.List<String> options = java.util.Arrays.asList(args).subList(3, args.length);
    isPbmac1 = options.contains("pbmac1");
    if (options.contains("ml-dsa")) signature = "ML-DSA-65";
    KeyPairGenerator generator = KeyPairGenerator.getInstance(options.contains("ml-dsa") ? signature : "EC", provider);
    if (!options.contains("ml-dsa")) generator.initialize(256);
    KeyPair keys = generator.generateKeyPair();
    transaction = octets();
    PKIMessage answer = byMac(new PKIBody(PKIBody.TYPE_INIT_REQ, request(keys)), null);
    while (isWaiting(answer)) {
      Thread.sleep(500);
      answer = byMac(new PKIBody(PKIBody.TYPE_POLL_REQ, new PollReqContent(new org.bouncycastle.asn1.ASN1Integer(0))), nonce);
    }
    X509CertificateHolder certificate = certificateOf(answer);
    System.out.println("enrolled " + certificate.getSubject());
    byte[] digest = java.security.MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
    PKIBody confirmation = new PKIBody(PKIBody.TYPE_CERT_CONFIRM,
        CertConfirmContent.getInstance(new org.bouncycastle.asn1.DERSequence(new CertStatus(digest, BigInteger.ZERO))));
    System.out.println("confirmed " + (byMac(confirmation, nonce).getBody().getType() == PKIBody.TYPE_CONFIRM));
    transaction = octets();
    KeyPair next = generator.generateKeyPair();
    answer = bySignature(new PKIBody(PKIBody.TYPE_KEY_UPDATE_REQ, request(next)), keys, certificate, true);
    X509CertificateHolder updated = certificateOf(answer);
    System.out.println("updated " + !updated.getSerialNumber().equals(certificate.getSerialNumber()));
    transaction = octets();
    GenMsgContent asked = new GenMsgContent(new InfoTypeAndValue(new ASN1ObjectIdentifier("1.3.6.1.5.5.7.4.17")));
    answer = bySignature(new PKIBody(PKIBody.TYPE_GEN_MSG, asked), next, updated, false);
    System.out.println("asked " + (answer.getBody().getType() == PKIBody.TYPE_GEN_REP));
    transaction = octets();
    RevDetails details = new RevDetails(new CertTemplateBuilder().setIssuer(updated.getIssuer())
        .setSerialNumber(new org.bouncycastle.asn1.ASN1Integer(updated.getSerialNumber())).build());
    answer = bySignature(new PKIBody(PKIBody.TYPE_REVOCATION_REQ, new RevReqContent(details)), next, updated, false);
    RevRepContent revoked = RevRepContent.getInstance(answer.getBody().getContent());
    System.out.println("revoked " + (revoked.getStatus()[0].getStatus().intValue() == 0));
    secret = "wrong secret";
    transaction = octets();
    answer = send(macked(new PKIBody(PKIBody.TYPE_INIT_REQ, request(keys)), null));
    System.out.println("refused " + (answer.getBody().getType() == PKIBody.TYPE_ERROR));
  }

  static byte[] octets() {
    byte[] made = new byte[16];
    random.nextBytes(made);
    return made;
  }

  static CertReqMessages request(KeyPair keys) throws Exception {
    CertificateRequestMessageBuilder builder = new CertificateRequestMessageBuilder(BigInteger.ZERO);
    builder.setSubject(subject);
    builder.setPublicKey(SubjectPublicKeyInfo.getInstance(keys.getPublic().getEncoded()));
    builder.setProofOfPossessionSigningKeySigner(new JcaContentSignerBuilder(signature).setProvider(provider).build(keys.getPrivate()));
    return new CertReqMessages(CertReqMsg.getInstance(builder.build().getEncoded()));
  }

  static PKIMessage byMac(PKIBody body, byte[] recipient) throws Exception {
    PKIMessage answer = send(macked(body, recipient));
    ProtectedPKIMessage read = new ProtectedPKIMessage(new GeneralPKIMessage(answer));
    boolean holds;
    if (isPbmac1) {
      PBEMacCalculatorProvider macs = new JcePBMac1CalculatorProviderBuilder().setProvider(provider).build();
      holds = read.verify(macs, secret.toCharArray());
    } else holds = read.verify(new PKMACBuilder(new JcePKMACValuesCalculator().setProvider(provider)), secret.toCharArray());
    if (!holds) throw new IllegalStateException("the MAC of the answer does not hold");
    return answer;
  }

  static ProtectedPKIMessage macked(PKIBody body, byte[] recipient) throws Exception {
    MacCalculator mac;
    if (isPbmac1) mac = new JcePBMac1CalculatorBuilder("HmacSHA256", 256).setProvider(provider).build(secret.toCharArray());
    else {
      PBMParameter parameters = new PBMParameter(octets(), new AlgorithmIdentifier(NISTObjectIdentifiers.id_sha256), 1000,
          new AlgorithmIdentifier(PKCSObjectIdentifiers.id_hmacWithSHA256, DERNull.INSTANCE));
      PKMACBuilder builder = new PKMACBuilder(new JcePKMACValuesCalculator().setProvider(provider));
      mac = builder.setParameters(parameters).build(secret.toCharArray());
    }
    return built(body, recipient).setSenderKID(reference).build(mac);
  }

  static ProtectedPKIMessageBuilder built(PKIBody body, byte[] recipient) {
    ProtectedPKIMessageBuilder builder = new ProtectedPKIMessageBuilder(new GeneralName(subject), new GeneralName(new X500Name("CN=CA")))
        .setMessageTime(new Date()).setTransactionID(transaction).setSenderNonce(octets()).setBody(body);
    return recipient == null ? builder : builder.setRecipNonce(recipient);
  }

  static PKIMessage bySignature(PKIBody body, KeyPair keys, X509CertificateHolder certificate, boolean isImplicit) throws Exception {
    ProtectedPKIMessageBuilder builder = built(body, null).addCMPCertificate(certificate)
        .setSenderKID(org.bouncycastle.asn1.x509.SubjectKeyIdentifier.fromExtensions(certificate.getExtensions()).getKeyIdentifier());
    if (isImplicit) builder.addGeneralInfo(new InfoTypeAndValue(CMPObjectIdentifiers.it_implicitConfirm, DERNull.INSTANCE));
    PKIMessage answer = send(builder.build(new JcaContentSignerBuilder(signature).setProvider(provider).build(keys.getPrivate())));
    ProtectedPKIMessage read = new ProtectedPKIMessage(new GeneralPKIMessage(answer));
    if (!read.verify(new JcaContentVerifierProviderBuilder().setProvider(provider).build(read.getCertificates()[0])))
      throw new IllegalStateException("the signature of the answer does not hold");
    return answer;
  }

  static PKIMessage send(ProtectedPKIMessage message) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).header("Content-Type", "application/pkixcmp")
        .POST(HttpRequest.BodyPublishers.ofByteArray(message.toASN1Structure().getEncoded())).build();
    HttpResponse<byte[]> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) throw new IllegalStateException("HTTP " + response.statusCode() + " " + new String(response.body()));
    PKIMessage answer = PKIMessage.getInstance(response.body());
    nonce = answer.getHeader().getSenderNonce().getOctets();
    return answer;
  }

  static boolean isWaiting(PKIMessage answer) {
    if (answer.getBody().getType() == PKIBody.TYPE_POLL_REP) return true;
    return answer.getBody().getType() == PKIBody.TYPE_INIT_REP
        && CertRepMessage.getInstance(answer.getBody().getContent()).getResponse()[0].getStatus().getStatus().intValue() == 3;
  }

  static X509CertificateHolder certificateOf(PKIMessage answer) {
    if (answer.getBody().getType() == PKIBody.TYPE_ERROR)
      throw new IllegalStateException(org.bouncycastle.asn1.cmp.ErrorMsgContent.getInstance(answer.getBody().getContent()).getPKIStatusInfo().getStatusString().getStringAtUTF8(0).getString());
    CertRepMessage reply = CertRepMessage.getInstance(answer.getBody().getContent());
    if (reply.getResponse()[0].getCertifiedKeyPair() == null)
      throw new IllegalStateException(reply.getResponse()[0].getStatus().getStatusString().getStringAtUTF8(0).getString());
    CMPCertificate certificate = reply.getResponse()[0].getCertifiedKeyPair().getCertOrEncCert().getCertificate();
    return new X509CertificateHolder(certificate.getX509v3PKCert());
  }
}
