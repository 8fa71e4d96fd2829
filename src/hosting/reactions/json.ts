import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Address, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Reaction, ReactionCounts } from './reactions.ts'

export const ReactionSchema = Type.Object(
  { id: Type.Integer(), node_id: Type.String(), user: SimpleUser, content: Type.String(), created_at: Timestamp },
  { title: 'Reaction' },
)

export function reactionJson(reaction: Reaction, wire: Wire): Static<typeof ReactionSchema> {
  return {
    id: reaction.id,
    node_id: nodeId('Reaction', reaction.id),
    user: userJson(reaction.user, wire),
    content: reaction.content,
    created_at: timestamp(reaction.created_at),
  }
}

const ReactionRollup = Type.Object(
  {
    url: Address,
    total_count: Type.Integer(),
    '+1': Type.Integer(),
    '-1': Type.Integer(),
    laugh: Type.Integer(),
    hooray: Type.Integer(),
    confused: Type.Integer(),
    heart: Type.Integer(),
    rocket: Type.Integer(),
    eyes: Type.Integer(),
  },
  { title: 'ReactionRollup' },
)

/** The field of a text. Events have none, because they show texts as they were. */
export const reactionsField = { reactions: Type.Optional(ReactionRollup) }

/** `url` is the address of the text; `counts` are undefined when they were not read. */
export function reactionsJson(url: string, counts: ReactionCounts | undefined): { reactions?: Static<typeof ReactionRollup> } {
  return counts === undefined ? {} : { reactions: rollupJson(url, counts) }
}

export function rollupJson(url: string, counts: ReactionCounts): Static<typeof ReactionRollup> {
  const zero = { '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 }
  const total_count = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0)
  return { url: `${url}/reactions`, total_count, ...zero, ...counts }
}
