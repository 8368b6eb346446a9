/** Client of a keystored appliance: begin with {@link keystored.client.Client}. */
package keystored.client;
