import type { Facts } from '#activity/facts.ts'
import { deliveredStatusJson } from '#hosting/statuses/json.ts'
import { mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'

export function statusPayload(facts: Partial<Facts>, { repo, records }: PayloadContext) {
  const { status_id, commit, branches = [], commit_author_id, committer_id } = facts
  if (!commit) return undefined
  const authors = { author: records.accounts.get(commit_author_id ?? 0), committer: records.accounts.get(committer_id ?? 0) }
  return deliveredStatusJson(mustGet(records.statuses, status_id), { commit, branches }, authors, repo, wire)
}
