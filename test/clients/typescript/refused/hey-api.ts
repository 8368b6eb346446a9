// Must not compile: a misspelt field with a value of another type.
import { transitKeysEncrypt } from '../generated/hey-api/sdk.gen.js';

await transitKeysEncrypt({ path: { name: 'made' }, body: { plaintxt: 5 } });
