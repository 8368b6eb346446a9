// A connection to an appliance and an identity there.
package keystored.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import keystored.client.api.Operations;
import keystored.client.internal.Sender;
import keystored.client.internal.Settings;

/**
 * A connection to an appliance and an identity there. Make one and share it: it can be used by many threads. It logs in, renews its token
 * before it ends, goes on to the next address when one is away, and repeats what can be repeated without harm.
 *
 * <p>Its methods are the groups of operations of the API description; {@link #key} adds what works with octets, batches and streams. A
 * refusal is thrown as {@link ProblemException}, an answer that never came as {@link TransportException}. An interruption of the thread
 * ends its call.
 */
public final class Client extends Operations {
  private final Sender sender;

  private Client(Sender sender) {
    super(sender);
    this.sender = sender;
  }

  /**
   * Starts to make a client. Nothing is sent before the first call.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Logs in now, or makes sure that the token works, so that a wrong secret shows at the start of a program. */
  public void logIn() {
    sender.logIn();
  }

  /** Ends the token of a login. The next call logs in again. */
  public void logOut() {
    logins().logout();
    sender.forget();
  }

  /**
   * Answers random octets from the token of the appliance.
   *
   * @param count 1 to 131,072
   * @return the octets
   */
  public byte[] random(int count) {
    return sender.random(count);
  }

  /**
   * Works with one transit key, with octets, batches and streams.
   *
   * @param name of the key
   * @return the key; nothing is sent
   */
  public Key key(String name) {
    return new Key(sender, name);
  }

  /**
   * Sends a request that no method is for, with the token and the retries of the client.
   *
   * @param method of HTTP; GET, PUT and DELETE may be sent again when nothing is known of the first attempt
   * @param target path and query, from {@code /v1}, percent-encoded
   * @param body sent as JSON; null: none
   * @return the document; missing for an answer without one
   */
  public JsonNode send(String method, String target, Object body) {
    return sender.send(method, target, body);
  }

  /**
   * Shares everything with this client and tells of the headers of each answer, such as ETag for a later If-Match.
   *
   * @param consumer of the headers
   * @return the other view of this client
   */
  public Client onHeaders(Consumer<HttpHeaders> consumer) {
    return new Client(sender.observing(consumer));
  }

  /**
   * Shares everything with this client, and has its calls run as approved by other people. The id is for one use.
   *
   * @param id of the request for approval
   * @return the other view of this client
   */
  public Client withApproval(String id) {
    return new Client(sender.approved(id));
  }

  /**
   * Shares everything with this client, and has its calls ask other people for approval where a rule needs it: they throw {@link
   * AskedForApprovalException} then. A call that no rule is about is done at once.
   *
   * @param reason 8 to 512 characters, shown to them
   * @return the other view of this client
   */
  public Client askingApproval(String reason) {
    return new Client(sender.asking(reason));
  }

  /** Makes a client: at least an address is needed. */
  public static final class Builder {
    private final List<String> addresses = new ArrayList<>();
    private String caPem;
    private String token;
    private String roleId;
    private String secretId;
    private Workload workload;
    private Duration timeLimit = Duration.ofSeconds(60);
    private int attempts = 4;
    private Duration mostWait = Duration.ofSeconds(30);
    private String product = "";

    private Builder() {}

    /**
     * Adds base addresses of the appliance and its replicas, in order of preference. Plain http is accepted for loopback addresses only.
     *
     * @param some for example {@code https://keys.example:4646}
     * @return this
     */
    public Builder address(String... some) {
      addresses.addAll(List.of(some));
      return this;
    }

    /**
     * Trusts these certificates and no others.
     *
     * @param pem certificates in PEM
     * @return this
     */
    public Builder ca(String pem) {
      caPem = pem;
      return this;
    }

    /**
     * Authenticates by a token, which is renewed while it can be.
     *
     * @param value of the token
     * @return this
     */
    public Builder token(String value) {
      token = value;
      return this;
    }

    /**
     * Authenticates by an approle: logs in, and again when the token has ended.
     *
     * @param role the role-id
     * @param secret the secret-id
     * @return this
     */
    public Builder approle(String role, String secret) {
      roleId = role;
      secretId = secret;
      return this;
    }

    /**
     * Authenticates by an identity that a platform signs: logs in, and again with a fresh token of the platform when ours has ended.
     *
     * @param identity the role, and where the tokens of the platform come from
     * @return this
     */
    public Builder workload(Workload identity) {
      workload = identity;
      return this;
    }

    /**
     * Bounds a call with its repetitions; 60 s unless given.
     *
     * @param limit above zero
     * @return this
     */
    public Builder timeLimit(Duration limit) {
      timeLimit = limit;
      return this;
    }

    /**
     * Bounds how often a request is sent to all addresses; 4 unless given.
     *
     * @param most 1: no repetition
     * @return this
     */
    public Builder attempts(int most) {
      attempts = most;
      return this;
    }

    /**
     * Bounds the pause between two attempts; 30 s unless given. An appliance that asks for a longer one ends the call with its problem.
     *
     * @param most the longest pause
     * @return this
     */
    public Builder mostWait(Duration most) {
      mostWait = most;
      return this;
    }

    /**
     * Names the program in User-Agent.
     *
     * @param nameAndVersion for example {@code billing/2.1}
     * @return this
     */
    public Builder product(String nameAndVersion) {
      product = nameAndVersion;
      return this;
    }

    /**
     * Makes the client.
     *
     * @return the client
     * @throws IllegalArgumentException for what cannot be meant
     */
    public Client build() {
      Settings settings = new Settings(addresses, caPem, token, roleId, secretId, workload, timeLimit, attempts, mostWait, product);
      return new Client(new Sender(settings));
    }
  }
}
