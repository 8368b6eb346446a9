// Fields of the documents of roles and approles: the tokens of a login.
import { z } from 'zod';
import { cidrsField } from '../base/addresses.ts';
import { givenPolicy, naming } from '../http/named-entries.ts';
import { durationText } from '../wire/fields.ts';

/** Fields of the document of who logs in, for the tokens. `ttl`, `maxTtl`: unless stated. */
export const tokenFieldsOf = ({ ttl, maxTtl }: { readonly ttl: string; readonly maxTtl: string }) =>
  ({
    tokenPolicies: z
      .array(naming(z.string().min(1).max(128), givenPolicy))
      .max(64)
      .meta({ whenEmpty: [] })
      .default([])
      .meta({ description: 'Policies of the tokens; only such as the caller has.', example: ['user'] }),
    tokenTtl: durationText({ minSeconds: 1 })
      .default(ttl)
      .meta({ description: 'Life of a token, and what a refresh gives it.', example: ttl }),
    tokenMaxTtl: durationText({ minSeconds: 1 })
      .default(maxTtl)
      .meta({ description: 'Longest life of a token over all refreshes.', example: maxTtl }),
    tokenBoundCidrs: cidrsField()
      .default([])
      .meta({ description: 'Ranges of addresses the tokens work from; empty: from anywhere.', example: ['10.1.0.0/16'] }),
  }) as const;
