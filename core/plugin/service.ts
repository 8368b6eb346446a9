// Typed names of services. A service is provided by one plugin, or by the platform, and used by others.

/** Ties the type of an implementation to a name; for the compiler only. */
declare const implementation: unique symbol;

/** The name of a service, and the type of its implementation. */
export type Service<T> = { readonly name: string; readonly [implementation]?: T };

/** A service with its implementation. */
export type ProvidedService = { readonly service: Service<unknown>; readonly implementation: unknown };

/** Declares a service. Called in core/plugin/services, once for each service. */
export function defineService<T>(name: string): Service<T> {
  return { name };
}

/** Pairs a service with an implementation of its type. */
export function provide<T>(service: Service<T>, provided: NoInfer<T>): ProvidedService {
  return { service, implementation: provided };
}
