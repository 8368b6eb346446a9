// The groups of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Sender;

/** The groups of operations of the API, by what they are about. */
public abstract class Operations {
  private final ApproleOperations approle;
  private final ApprolesOperations approles;
  private final ApprolesSecretIdsOperations approlesSecretIds;
  private final AuditOperations audit;
  private final BackupStatusOperations backupStatus;
  private final CaOperations ca;
  private final CaCertificatesOperations caCertificates;
  private final CryptoFunctionsOperations cryptoFunctions;
  private final HealthOperations health;
  private final HsmOperations hsm;
  private final KeystoreOperations keystore;
  private final LoginsOperations logins;
  private final MetricsOperations metrics;
  private final OidcOperations oidc;
  private final OidcRolesOperations oidcRoles;
  private final PoliciesOperations policies;
  private final PolicyOperations policy;
  private final SystemOperations system;
  private final TenantsOperations tenants;
  private final TlsCAsOperations tlsCAs;
  private final TokenOperations token;
  private final TokensOperations tokens;
  private final TopicsOperations topics;
  private final TransitKeysOperations transitKeys;
  private final WrappingKeyOperations wrappingKey;

  /**
   * Makes the groups.
   *
   * @param sender sends their calls
   */
  protected Operations(Sender sender) {
    approle = new ApproleOperations(sender);
    approles = new ApprolesOperations(sender);
    approlesSecretIds = new ApprolesSecretIdsOperations(sender);
    audit = new AuditOperations(sender);
    backupStatus = new BackupStatusOperations(sender);
    ca = new CaOperations(sender);
    caCertificates = new CaCertificatesOperations(sender);
    cryptoFunctions = new CryptoFunctionsOperations(sender);
    health = new HealthOperations(sender);
    hsm = new HsmOperations(sender);
    keystore = new KeystoreOperations(sender);
    logins = new LoginsOperations(sender);
    metrics = new MetricsOperations(sender);
    oidc = new OidcOperations(sender);
    oidcRoles = new OidcRolesOperations(sender);
    policies = new PoliciesOperations(sender);
    policy = new PolicyOperations(sender);
    system = new SystemOperations(sender);
    tenants = new TenantsOperations(sender);
    tlsCAs = new TlsCAsOperations(sender);
    token = new TokenOperations(sender);
    tokens = new TokensOperations(sender);
    topics = new TopicsOperations(sender);
    transitKeys = new TransitKeysOperations(sender);
    wrappingKey = new WrappingKeyOperations(sender);
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ApproleOperations approle() {
    return approle;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ApprolesOperations approles() {
    return approles;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public ApprolesSecretIdsOperations approlesSecretIds() {
    return approlesSecretIds;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public AuditOperations audit() {
    return audit;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public BackupStatusOperations backupStatus() {
    return backupStatus;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CaOperations ca() {
    return ca;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CaCertificatesOperations caCertificates() {
    return caCertificates;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public CryptoFunctionsOperations cryptoFunctions() {
    return cryptoFunctions;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public HealthOperations health() {
    return health;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public HsmOperations hsm() {
    return hsm;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public KeystoreOperations keystore() {
    return keystore;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public LoginsOperations logins() {
    return logins;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public MetricsOperations metrics() {
    return metrics;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public OidcOperations oidc() {
    return oidc;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public OidcRolesOperations oidcRoles() {
    return oidcRoles;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public PoliciesOperations policies() {
    return policies;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public PolicyOperations policy() {
    return policy;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public SystemOperations system() {
    return system;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TenantsOperations tenants() {
    return tenants;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TlsCAsOperations tlsCAs() {
    return tlsCAs;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TokenOperations token() {
    return token;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TokensOperations tokens() {
    return tokens;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TopicsOperations topics() {
    return topics;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public TransitKeysOperations transitKeys() {
    return transitKeys;
  }

  /**
   * Answers the operations of the group.
   *
   * @return the operations
   */
  public WrappingKeyOperations wrappingKey() {
    return wrappingKey;
  }
}
