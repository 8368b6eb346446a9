// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.JsonLines;
import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TopicsGroup {
  private static final Operation LIST =
      new Operation("GET", "/v1/state/topics", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/topics/{}", "application/x-ndjson", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  TopicsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * List the topics one can read.
   *
   * <p>The audit trail for every tenant, and for the tenant `system` the log of the appliance.
   *
   * <p>GET /v1/state/topics
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Topic> list(TopicsListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), Topic.class);
  }

  /**
   * List the topics one can read.
   *
   * <p>The audit trail for every tenant, and for the tenant `system` the log of the appliance.
   *
   * <p>GET /v1/state/topics
   *
   * @return the answer
   */
  public Page<Topic> list() {
    return list(TopicsListOptions.builder().build());
  }

  /**
   * List the topics one can read. It follows the pages and reads them one by one.
   *
   * <p>The audit trail for every tenant, and for the tenant `system` the log of the appliance.
   *
   * <p>GET /v1/state/topics
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Topic> listEach(TopicsListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Read a topic as JSON lines.
   *
   * <p>Records in the order of time, one JSON object a line; without parameters all there are. A stream that
   * follows ends when the token does. What finds little is searched a part at a time: where an answer has a
   * `Link`, it was not all, and that is where to go on.
   *
   * <p>GET /v1/state/topics/&#123;topic}
   *
   * @param topic Name of the topic.
   * @param options the optional parameters
   * @return the answer
   */
  public JsonLines show(String topic, TopicsShowOptions options) {
    return sender.lines(SHOW, options.addTo(new Parts(topic)));
  }

  /**
   * Read a topic as JSON lines.
   *
   * <p>Records in the order of time, one JSON object a line; without parameters all there are. A stream that
   * follows ends when the token does. What finds little is searched a part at a time: where an answer has a
   * `Link`, it was not all, and that is where to go on.
   *
   * <p>GET /v1/state/topics/&#123;topic}
   *
   * @param topic Name of the topic.
   * @return the answer
   */
  public JsonLines show(String topic) {
    return show(topic, TopicsShowOptions.builder().build());
  }
}
