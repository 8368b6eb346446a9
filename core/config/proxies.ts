// Configuration of the proxies in front of the listeners: those trusted for the address of a client, and the way they report it.
import { z } from 'zod';
import { cidrsField } from '../base/addresses.ts';

export const forwardingHeaders = ['x-forwarded-for', 'forwarded'] as const;

/** Proxies by the ranges of their addresses. */
export type Proxies = {
  /** pass TLS on as it is: each of their connections begins with a header of the PROXY protocol, version 2 */
  readonly proxyProtocol: readonly string[];
  /** end TLS themselves: each of their requests names the client in a header */
  readonly forwarded: readonly string[];
  readonly forwardedHeader: (typeof forwardingHeaders)[number];
};

/** A proxy may claim any address for its clients. */
const ranges = cidrsField()
  .refine((given) => !given.some((range) => range.endsWith('/0')), 'must not have all addresses: give those of your proxies')
  .default([]);

export const proxiesSection = z
  .strictObject({
    proxyProtocol: ranges.describe(
      'addresses and ranges of proxies that pass TLS on: each of their connections has to begin with the PROXY protocol, version 2, which no one else may use',
    ),
    forwarded: ranges.describe(
      'addresses and ranges of proxies that end TLS themselves and name the client in a header of each request; that of anybody else is not looked at',
    ),
    forwardedHeader: z
      .enum(forwardingHeaders)
      .default('x-forwarded-for')
      .describe('the header in which these proxies name the client, each behind the ones before it'),
  })
  .prefault({});
