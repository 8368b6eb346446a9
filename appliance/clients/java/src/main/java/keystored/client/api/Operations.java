// The groups of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Sender;

/** The groups of operations of the API, by what they are about. */
public abstract class Operations {
  private final ActivityGroup activity;
  private final ApproleGroup approle;
  private final ApprolesGroup approles;
  private final ApprolesSecretIdsGroup approlesSecretIds;
  private final AttestationKeysGroup attestationKeys;
  private final AuditGroup audit;
  private final BackupStatusGroup backupStatus;
  private final CaGroup ca;
  private final CaCertificatesGroup caCertificates;
  private final CaCustodyGroup caCustody;
  private final ClusterGroup cluster;
  private final CryptoFunctionsGroup cryptoFunctions;
  private final FindingsGroup findings;
  private final HealthGroup health;
  private final HsmGroup hsm;
  private final ImageGroup image;
  private final KeystoreGroup keystore;
  private final LoginsGroup logins;
  private final MetricsGroup metrics;
  private final OidcGroup oidc;
  private final OidcRolesGroup oidcRoles;
  private final PoliciesGroup policies;
  private final PolicyGroup policy;
  private final ShippingGroup shipping;
  private final SystemGroup system;
  private final TenantsGroup tenants;
  private final TokenGroup token;
  private final TokensGroup tokens;
  private final TopicsGroup topics;
  private final TransitKeysGroup transitKeys;
  private final TransitKeysCustodyGroup transitKeysCustody;
  private final TransitKeysDistributionGroup transitKeysDistribution;
  private final WrappingKeyGroup wrappingKey;

  /**
   * Makes the groups.
   *
   * @param sender sends their calls
   */
  protected Operations(Sender sender) {
    activity = new ActivityGroup(sender);
    approle = new ApproleGroup(sender);
    approles = new ApprolesGroup(sender);
    approlesSecretIds = new ApprolesSecretIdsGroup(sender);
    attestationKeys = new AttestationKeysGroup(sender);
    audit = new AuditGroup(sender);
    backupStatus = new BackupStatusGroup(sender);
    ca = new CaGroup(sender);
    caCertificates = new CaCertificatesGroup(sender);
    caCustody = new CaCustodyGroup(sender);
    cluster = new ClusterGroup(sender);
    cryptoFunctions = new CryptoFunctionsGroup(sender);
    findings = new FindingsGroup(sender);
    health = new HealthGroup(sender);
    hsm = new HsmGroup(sender);
    image = new ImageGroup(sender);
    keystore = new KeystoreGroup(sender);
    logins = new LoginsGroup(sender);
    metrics = new MetricsGroup(sender);
    oidc = new OidcGroup(sender);
    oidcRoles = new OidcRolesGroup(sender);
    policies = new PoliciesGroup(sender);
    policy = new PolicyGroup(sender);
    shipping = new ShippingGroup(sender);
    system = new SystemGroup(sender);
    tenants = new TenantsGroup(sender);
    token = new TokenGroup(sender);
    tokens = new TokensGroup(sender);
    topics = new TopicsGroup(sender);
    transitKeys = new TransitKeysGroup(sender);
    transitKeysCustody = new TransitKeysCustodyGroup(sender);
    transitKeysDistribution = new TransitKeysDistributionGroup(sender);
    wrappingKey = new WrappingKeyGroup(sender);
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ActivityGroup activity() {
    return activity;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ApproleGroup approle() {
    return approle;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ApprolesGroup approles() {
    return approles;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ApprolesSecretIdsGroup approlesSecretIds() {
    return approlesSecretIds;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public AttestationKeysGroup attestationKeys() {
    return attestationKeys;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public AuditGroup audit() {
    return audit;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public BackupStatusGroup backupStatus() {
    return backupStatus;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CaGroup ca() {
    return ca;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CaCertificatesGroup caCertificates() {
    return caCertificates;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CaCustodyGroup caCustody() {
    return caCustody;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ClusterGroup cluster() {
    return cluster;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CryptoFunctionsGroup cryptoFunctions() {
    return cryptoFunctions;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public FindingsGroup findings() {
    return findings;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public HealthGroup health() {
    return health;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public HsmGroup hsm() {
    return hsm;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ImageGroup image() {
    return image;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public KeystoreGroup keystore() {
    return keystore;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public LoginsGroup logins() {
    return logins;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public MetricsGroup metrics() {
    return metrics;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public OidcGroup oidc() {
    return oidc;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public OidcRolesGroup oidcRoles() {
    return oidcRoles;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public PoliciesGroup policies() {
    return policies;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public PolicyGroup policy() {
    return policy;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ShippingGroup shipping() {
    return shipping;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public SystemGroup system() {
    return system;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TenantsGroup tenants() {
    return tenants;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TokenGroup token() {
    return token;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TokensGroup tokens() {
    return tokens;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TopicsGroup topics() {
    return topics;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TransitKeysGroup transitKeys() {
    return transitKeys;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TransitKeysCustodyGroup transitKeysCustody() {
    return transitKeysCustody;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TransitKeysDistributionGroup transitKeysDistribution() {
    return transitKeysDistribution;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public WrappingKeyGroup wrappingKey() {
    return wrappingKey;
  }
}
