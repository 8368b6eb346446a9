// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class MetricsGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/metrics", "text/plain", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  MetricsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Metrics for Prometheus.
   *
   * <p>Text format 0.0.4. Counters are sums over all worker processes since the start; gauges are of those that
   * answer within two seconds.
   *
   * <p>GET /v1/state/system/metrics
   *
   * @return the answer
   */
  public String show() {
    return sender.text(SHOW, new Parts());
  }
}
