import { NullableString } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import type { Side } from './diff-position.ts'

export const Said = Type.String({ maxLength: 65_536 })
export const Commit = NullableString

const Line = Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 2_147_483_647 }))
const OneSide = Type.Optional(Type.Unsafe<Side | null>({ type: ['string', 'null'], enum: ['LEFT', 'RIGHT', null] }))

/** The fields of a request that give a comment's position. */
export const positionFields = {
  path: Type.String(),
  position: Line,
  line: Line,
  side: OneSide,
  start_line: Line,
  start_side: OneSide,
  subject_type: Type.Optional(Type.Unsafe<'line' | 'file' | null>({ type: ['string', 'null'], enum: ['line', 'file', null] })),
}
