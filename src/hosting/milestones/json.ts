import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Address, NullableString, NullableTimestamp, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Milestone } from './milestones.ts'

/** Null when the account was deleted. */
export const NullableUser = Type.Unsafe<Static<typeof SimpleUser> | null>({
  ...SimpleUser,
  title: 'NullableUser',
  nullable: true,
})

export const MilestoneSchema = Type.Object(
  {
    url: Address,
    html_url: Address,
    labels_url: Address,
    id: Type.Integer(),
    node_id: Type.String(),
    number: Type.Integer(),
    title: Type.String(),
    description: NullableString,
    creator: NullableUser,
    open_issues: Type.Integer(),
    closed_issues: Type.Integer(),
    state: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    due_on: NullableTimestamp,
    closed_at: NullableTimestamp,
  },
  { title: 'Milestone' },
)

export function milestoneJson(
  milestone: Milestone,
  repo: { owner_login: string; name: string },
  wire: Wire,
): Static<typeof MilestoneSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const url = `${wire.api}/repos/${full_name}/milestones/${milestone.number}`
  return {
    url,
    html_url: `${wire.web}/${full_name}/milestone/${milestone.number}`,
    labels_url: `${url}/labels`,
    id: milestone.id,
    node_id: nodeId('Milestone', milestone.id),
    number: milestone.number,
    title: milestone.title,
    description: milestone.description,
    creator: milestone.creator && userJson(milestone.creator, wire),
    open_issues: milestone.open_issues,
    closed_issues: milestone.closed_issues,
    state: milestone.state,
    created_at: timestamp(milestone.created_at),
    updated_at: timestamp(milestone.updated_at),
    due_on: milestone.due_on && timestamp(milestone.due_on),
    closed_at: milestone.closed_at && timestamp(milestone.closed_at),
  }
}
