// The composed appliance with every plugin, for tests that look at the whole API; no EST port is opened.
import { provide } from '../../../core/plugin/service.ts';
import { type Listeners, listenersService } from '../../../core/plugin/services/listeners.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';

/** Close it in afterAll. */
export function startWholeAppliance(directory: string): Promise<TestAppliance> {
  const listeners: Listeners = {
    serving: false,
    est: { host: '127.0.0.1', port: 4665 },
    hosts: ['localhost', '127.0.0.1'],
    managementUrl: 'https://localhost:4646',
    sealed: () => false,
    identity: () => {
      throw new Error('no listener is open in these tests');
    },
    onIdentityChange: () => () => undefined,
  };
  return startTestAppliance({ directory, services: [provide(listenersService, listeners)] });
}
