import type { ErrorBody } from "./types";

/** An answer that is not the data that was asked for: the server's own words, or what went wrong on the way. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly parameter: string | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** A list is given once for each of its members. */
export type Parameters = Record<string, string | number | readonly string[] | null | undefined>;
export type Fetch = (url: string, init: { signal?: AbortSignal }) => Promise<Response>;

/** Address of a route, relative to this module, so that path prefixes and proxies keep working. */
export function routeUrl(base: string | URL, route: string, parameters: Parameters = {}): string {
  const url = new URL(`./${route}`, base);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of typeof value === "object" ? value : [String(value)]) url.searchParams.append(name, one);
  }
  return url.href;
}

/** Reads the routes of http_api.md. */
export class Client {
  constructor(
    private readonly base: string | URL,
    private readonly fetcher: Fetch = (url, init) => fetch(url, init),
  ) {}

  url(route: string, parameters: Parameters = {}): string {
    return routeUrl(this.base, route, parameters);
  }

  /**
   * Fetches one route.
   *
   * @throws ApiError with the server's message, or with what to check where there was no usable answer. An aborted
   *   request rejects with the `AbortError` of fetch.
   */
  async get<T>(route: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
    let response: Response;
    try {
      response = await this.fetcher(this.url(route, parameters), signal ? { signal } : {});
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ApiError("TensorBoard did not answer. Is it still running, and is the network up?", "network", 0);
    }
    let body: unknown;
    try {
      body = await response.json();
    } catch (error) {
      if (isAbort(error)) throw error;
      const message = `TensorBoard answered /${route} with status ${response.status} and something that is not JSON.`;
      throw new ApiError(message, "not_json", response.status);
    }
    if (response.ok) return body as T;
    const { error } = body as Partial<ErrorBody>;
    throw new ApiError(
      error?.message ?? `TensorBoard answered /${route} with status ${response.status}.`,
      error?.code ?? "unknown",
      response.status,
      error?.parameter ?? null,
    );
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
