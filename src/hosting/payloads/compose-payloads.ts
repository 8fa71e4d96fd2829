import type { WebhookName } from '#activity/acts.ts'
import type { Facts } from '#activity/facts.ts'
import type { PayloadComposer, WebhookEvent } from '#activity/outbox/outbox.ts'
import { commitCommentJson } from '#hosting/commit-comments/json.ts'
import { deployKeyJson } from '#hosting/keys/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import { milestoneJson } from '#hosting/milestones/json.ts'
import { simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { ruleJson } from '#hosting/protection/rule-json.ts'
import { releaseJson } from '#hosting/releases/json.ts'
import { type Repository, repositoryColumns, repositorySource } from '#hosting/repositories/repositories.ts'
import { timestamp } from '#http/serialization.ts'
import type { Person } from '#identity/accounts.ts'
import { personColumns } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { checkRunPayload, checkSuitePayload } from './check-payload.ts'
import { deploymentPayload, deploymentStatusPayload } from './deployment-payload.ts'
import { issueCommentPayload, issuePayload } from './issue-payload.ts'
import { type Actors, ghost, mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'
import { pullPayload, reviewCommentPayload, reviewPayload, reviewThreadPayload } from './pull-payload.ts'
import { createPayload, deletePayload, pushPayload, pushRepository } from './push-payload.ts'
import { loadReferencedRecords } from './referenced-records.ts'
import { deliveredRepositoryJson, forkPayload, memberPayload, repositoryPayload } from './repository-payload.ts'
import { statusPayload } from './status-payload.ts'

interface Payload {
  /** The facts that refer to records which the payload shows. */
  reads?: (keyof Facts)[]
  /** What the event has besides action, repository, organization and sender; undefined when receivers must not get it. */
  fields: (facts: Partial<Facts>, context: PayloadContext, action: string | null) => object | undefined
}

const triage: (keyof Facts)[] = ['label_id', 'assignee_id', 'milestone_id']

const payloads: Record<WebhookName, Payload> = {
  push: { fields: pushPayload },
  create: { fields: createPayload },
  delete: { fields: deletePayload },
  fork: { reads: ['forkee_id'], fields: forkPayload },
  star: { fields: (_, { at }, action) => ({ starred_at: action === 'created' ? timestamp(at) : null }) },
  watch: { fields: () => ({}) },
  public: { fields: () => ({}) },
  member: { reads: ['member_id'], fields: memberPayload },
  repository: { reads: ['former_owner_id'], fields: repositoryPayload },
  release: {
    reads: ['release_id'],
    fields: ({ release_id, changes }, { repo, records }) => {
      const release = releaseJson(mustGet(records.releases, release_id), repo, wire)
      // Receivers expect strings.
      const strings = { name: release.name ?? '', body: release.body ?? '' }
      return { ...(changes && { changes }), release: { ...release, ...strings } }
    },
  },
  issues: { reads: ['issue_id', ...triage], fields: issuePayload },
  issue_comment: { reads: ['issue_id', 'comment_id'], fields: issueCommentPayload },
  pull_request: { reads: ['pull_id', 'requested_reviewer_id', 'requested_team_id', ...triage], fields: pullPayload },
  pull_request_review: { reads: ['pull_id', 'review_id'], fields: reviewPayload },
  pull_request_review_comment: { reads: ['pull_id', 'review_comment_id'], fields: reviewCommentPayload },
  pull_request_review_thread: { reads: ['pull_id', 'review_thread_id'], fields: reviewThreadPayload },
  commit_comment: {
    reads: ['commit_comment_id'],
    fields: ({ commit_comment_id }, { repo, records }) => ({
      comment: commitCommentJson(mustGet(records.commit_comments, commit_comment_id), repo, wire),
    }),
  },
  label: {
    reads: ['label_id'],
    fields: ({ label_id, changes }, { repo, records }) => ({
      ...(changes && { changes }),
      label: labelJson(mustGet(records.labels, label_id), repo, wire),
    }),
  },
  milestone: {
    reads: ['milestone_id'],
    fields: ({ milestone_id, changes }, { repo, records }) => ({
      ...(changes && { changes }),
      milestone: milestoneJson(mustGet(records.milestones, milestone_id), repo, wire),
    }),
  },
  branch_protection_rule: {
    reads: ['protection_id'],
    fields: ({ protection_id, changes }, { records }) => ({
      ...(changes && { changes }),
      rule: ruleJson(mustGet(records.protections, protection_id)),
    }),
  },
  check_run: { reads: ['check_run_id', 'check_suite_id'], fields: checkRunPayload },
  check_suite: { reads: ['check_suite_id'], fields: checkSuitePayload },
  deployment: { reads: ['deployment_id'], fields: deploymentPayload },
  deployment_status: { reads: ['deployment_id', 'deployment_status_id'], fields: deploymentStatusPayload },
  deploy_key: {
    reads: ['deploy_key_id'],
    fields: ({ deploy_key_id }, { repo, records }) => ({ key: deployKeyJson(mustGet(records.keys, deploy_key_id), repo, wire) }),
  },
  status: { reads: ['status_id', 'commit_author_id', 'committer_id'], fields: statusPayload },
  repository_import: { fields: ({ status }) => ({ status }) },
  RepositoryImportEvent: {
    fields: ({ status, previous_status, import: shown }) => ({ status, previous_status, import: shown }),
  },
}

export const composePayloads: PayloadComposer = async (db, actor, repo, events) => {
  const found = await loadActors(db, actor.id, repo.id)
  if (!found) return []
  const records = await loadReferencedRecords(db, events.map(referencesOf))
  return events.map((event) => writePayload(event, { ...found, records, at: db.now }))
}

async function loadActors(
  db: Queryable,
  actor_id: number,
  repo_id: number,
): Promise<(Actors & { repo: Repository }) | undefined> {
  const repo = await db.first<Repository & { owner_bio: string | null; owner_email: string | null; actor: Person | null }>(sql`
    select ${repositoryColumns}, o.bio as owner_bio, o.email as owner_email,
      (select to_json(a) from (select ${personColumns} from accounts a where a.id = ${actor_id}) a) as actor
    from ${repositorySource} where r.id = ${repo_id}`)
  if (!repo) return undefined
  const { owner_id: id, owner_type: type, owner_login: login, owner_bio: bio, owner_email: email, actor } = repo
  return { repo, owner: { id, type, login, bio, email }, sender: actor ?? ghost }
}

/** The facts of an event that refer to records which its payload shows. */
export function referencesOf({ event, facts }: WebhookEvent): Partial<Facts> {
  const { reads = [] } = payloads[event]
  return Object.fromEntries(reads.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])))
}

/** Undefined when receivers must not get it. */
export function writePayload({ event, action, facts }: WebhookEvent, context: PayloadContext): string | undefined {
  const fields = payloads[event].fields(facts, context, action)
  if (!fields) return undefined
  const { repo, owner, sender } = context
  return JSON.stringify({
    ...(action && { action }),
    ...fields,
    repository: event === 'push' ? pushRepository(repo, owner) : deliveredRepositoryJson(repo),
    ...(owner.type === 'Organization' && { organization: simpleOrganizationJson(owner, wire) }),
    sender: userJson(sender, wire),
  })
}
