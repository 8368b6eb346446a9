// Typed names of services: what one plugin, or the platform, provides and others use.

/** Ties the type of an implementation to a name; exists for the compiler only. */
declare const implementation: unique symbol;

/** The name of a service, with the type of what is provided under it. */
export type Service<T> = { readonly name: string; readonly [implementation]?: T };

/** A service together with its implementation. */
export type ProvidedService = { readonly service: Service<unknown>; readonly implementation: unknown };

/** Declares a service; the files in core/plugin/services do so, once for each. */
export function defineService<T>(name: string): Service<T> {
  return { name };
}

/** For the services of a plugin's instance, or of the platform. */
export function provide<T>(service: Service<T>, provided: NoInfer<T>): ProvidedService {
  return { service, implementation: provided };
}
