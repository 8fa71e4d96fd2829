import type { SpanContext } from './traceparent.ts'

/** Never texts of users, names, addresses or secrets: a collector may be read by people without access to Belfry. */
export type Attributes = Record<string, string | number | string[] | undefined>

/** The numbers of OTLP. */
export const kinds = { internal: 1, server: 2, client: 3, consumer: 5 } as const
export type Kind = keyof typeof kinds

/** Times are in nanoseconds since 1970. */
export interface FinishedSpan extends SpanContext {
  parent_id: string | undefined
  name: string
  kind: Kind
  attributes: Attributes
  start: bigint
  end: bigint
  failed: boolean
}
