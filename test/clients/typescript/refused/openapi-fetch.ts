// Must not compile: a misspelt field with a value of another type.
import createClient from 'openapi-fetch';
import type { paths } from '../generated/openapi-typescript/description.js';

const client = createClient<paths>();
await client.POST('/v1/state/keystore/transit-keys/{name}/encrypt', { params: { path: { name: 'made' } }, body: { plaintxt: 5 } });
