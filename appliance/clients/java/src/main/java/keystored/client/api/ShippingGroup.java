// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ShippingGroup {
  private static final Operation LIST =
      new Operation("GET", "/v1/state/system/shipping", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/shipping/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation TEST =
      new Operation("POST", "/v1/state/system/shipping/{}/test", "application/json");

  private final Sender sender;

  ShippingGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * State of every receiver of the audit trail and the logs.
   *
   * <p>Receivers are configured in the section `shipping` of the configuration.
   *
   * <p>GET /v1/state/system/shipping
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Shipping> list(ShippingListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), Shipping.class);
  }

  /**
   * State of every receiver of the audit trail and the logs.
   *
   * <p>Receivers are configured in the section `shipping` of the configuration.
   *
   * <p>GET /v1/state/system/shipping
   *
   * @return the answer
   */
  public Page<Shipping> list() {
    return list(ShippingListOptions.builder().build());
  }

  /**
   * State of every receiver of the audit trail and the logs. It follows the pages and reads them one by one.
   *
   * <p>Receivers are configured in the section `shipping` of the configuration.
   *
   * <p>GET /v1/state/system/shipping
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Shipping> listEach(ShippingListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * State of one receiver.
   *
   * <p>As in the list of all receivers.
   *
   * <p>GET /v1/state/system/shipping/&#123;destination}
   *
   * @param destination Name of the destination.
   * @return the answer
   */
  public ShippingAnswer show(String destination) {
    return sender.json(SHOW, new Parts(destination), ShippingAnswer.class);
  }

  /**
   * Send a test event to a receiver.
   *
   * <p>Always 200: whether the receiver took it, and what it said. The record is marked as a test and is in no
   * audit trail.
   *
   * <p>POST /v1/state/system/shipping/&#123;destination}/test
   *
   * @param destination Name of the destination.
   * @param body what is sent
   * @return the answer
   */
  public ShippingTestAnswer test(String destination, ShippingTestRequest body) {
    return sender.json(TEST, new Parts(destination).body(body), ShippingTestAnswer.class);
  }
}
