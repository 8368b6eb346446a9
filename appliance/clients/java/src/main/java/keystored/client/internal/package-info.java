/** What the client is made of; not for use by programs, and it may change with any version. */
package keystored.client.internal;
