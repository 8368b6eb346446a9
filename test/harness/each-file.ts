// Runs around every test file: what its tests started ends with it.
import { afterAll } from 'vitest';
import { endChildren } from './children.ts';

afterAll(endChildren);
