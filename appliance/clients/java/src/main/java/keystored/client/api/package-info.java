/** The operations and documents of the API. Made by npm run clients. */
package keystored.client.api;
