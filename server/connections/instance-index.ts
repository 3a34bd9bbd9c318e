interface Instance {
  readonly clientId: string;
  readonly instanceId: string;
}

/** Connected instances by their id, and by their client: a client may have thousands of others beside it. */
export class InstanceIndex<One extends Instance> {
  readonly #byId = new Map<string, One>();
  readonly #byClient = new Map<string, Set<string>>();

  get(instanceId: string): One | undefined {
    return this.#byId.get(instanceId);
  }

  values(): Iterable<One> {
    return this.#byId.values();
  }

  /** Ids of the client's instances. */
  idsOf(clientId: string): Iterable<string> {
    return this.#byClient.get(clientId) ?? [];
  }

  has(clientId: string): boolean {
    return this.#byClient.has(clientId);
  }

  /** Adds, or replaces by its id. */
  set(one: One): void {
    const { clientId, instanceId } = one;
    if (this.#byId.get(instanceId)?.clientId !== clientId) this.delete(instanceId);
    this.#byId.set(instanceId, one);
    const ids = this.#byClient.get(clientId) ?? new Set();
    this.#byClient.set(clientId, ids.add(instanceId));
  }

  /** False when there is no such instance. */
  delete(instanceId: string): boolean {
    const one = this.#byId.get(instanceId);
    if (!one) return false;
    this.#byId.delete(instanceId);
    const ids = this.#byClient.get(one.clientId);
    ids?.delete(instanceId);
    if (ids?.size === 0) this.#byClient.delete(one.clientId);
    return true;
  }
}
