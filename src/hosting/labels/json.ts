import { Address, NullableString, nodeId, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Label } from './labels.ts'

export const LabelSchema = Type.Object(
  {
    id: Type.Integer(),
    node_id: Type.String(),
    url: Address,
    name: Type.String(),
    color: Type.String(),
    default: Type.Boolean(),
    description: NullableString,
  },
  { title: 'Label' },
)

/** Labels as clients send them: names or objects. */
export const NamedLabels = Type.Array(
  Type.Unsafe<string | { name: string }>({
    type: ['string', 'object'],
    required: ['name'],
    properties: { name: { type: 'string' } },
  }),
  { maxItems: 100 },
)

export function namesOf(labels: Static<typeof NamedLabels>) {
  return labels.map((label) => (typeof label === 'string' ? label : label.name))
}

export function labelJson(label: Label, repo: { owner_login: string; name: string }, wire: Wire): Static<typeof LabelSchema> {
  return {
    id: label.id,
    node_id: nodeId('Label', label.id),
    url: `${wire.api}/repos/${repo.owner_login}/${repo.name}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: label.description,
  }
}
