import type { Facts, Push } from './facts.ts'

/** The reasons of a notification, strongest first. */
export const reasons = [
  'mention',
  'review_requested',
  'assign',
  'team_mention',
  'author',
  'state_change',
  'comment',
  'invitation',
  'manual',
  'subscribed',
] as const
export type Reason = (typeof reasons)[number]

export interface NoticeRule {
  /** `everyone`: watchers and participants too. `concerned`: only users whom the act concerns or who are mentioned. */
  audience: 'everyone' | 'concerned'
  /** The actor becomes a participant, for this reason. */
  joins?: Reason
  /** The reason of the users whom the act concerns. */
  concerns?: Reason
  /** The act is by the user whom it concerns: it changes the reason of their thread, which stays read or unread. */
  own?: true
}

export const noticeRules = {
  opened: { audience: 'everyone', joins: 'author', concerns: 'assign' },
  commented: { audience: 'everyone', joins: 'comment' },
  reviewed: { audience: 'everyone', joins: 'comment' },
  closed: { audience: 'everyone', joins: 'state_change' },
  reopened: { audience: 'everyone', joins: 'state_change' },
  merged: { audience: 'everyone', joins: 'state_change' },
  pushed: { audience: 'everyone' },
  published: { audience: 'everyone', joins: 'author' },
  imported: { audience: 'everyone' },
  assigned: { audience: 'concerned', concerns: 'assign' },
  review_requested: { audience: 'concerned', concerns: 'review_requested' },
  // The spec has no reason for a request that waits for an answer.
  invited: { audience: 'concerned', concerns: 'subscribed' },
  offered: { audience: 'concerned', concerns: 'subscribed' },
  paused: { audience: 'concerned', concerns: 'subscribed' },
  accepted: { audience: 'concerned', concerns: 'invitation', own: true },
  edited: { audience: 'concerned' },
} satisfies Record<string, NoticeRule>

export type NoticeName = keyof typeof noticeRules

/** What follows from an act. A name of two words is an event and its `action`, in timelines of refs the `ref_type`. */
interface Meaning {
  facts: readonly (keyof Facts)[]
  timeline?: string
  /** The entry in the issue's history. */
  history?: string
  notice?: NoticeName
  webhook?: string | readonly string[]
}

const ref = ['ref', 'ref_type', 'in_bulk'] as const
const newRef = [...ref, 'master_branch', 'description'] as const
const push = ['push_id', 'ref', 'head', 'before', 'size', 'distinct_size', 'commits', 'delivery'] as const
const issue = ['issue_id', 'pull_id'] as const
const written = [...issue, 'body'] as const
const edited = [...issue, 'body', 'changes'] as const
const renamed = [...issue, 'renamed_from', 'renamed_to'] as const
const closed = [...issue, 'state_reason'] as const
const locked = [...issue, 'lock_reason'] as const
const assigned = [...issue, 'assignee_id'] as const
const labeled = [...issue, 'label_id'] as const
const milestoned = [...issue, 'milestone_id'] as const
const person = [...issue, 'requested_reviewer_id'] as const
const team = [...issue, 'requested_team_id'] as const
const moved = [...issue, 'before', 'after'] as const
const comment = [...issue, 'comment_id'] as const
const review = [...issue, 'review_id'] as const
const lineComment = [...issue, 'review_comment_id'] as const
const thread = [...issue, 'review_thread_id'] as const
const commitComment = ['commit_comment_id', 'commit_id', 'title', 'commit_author_id', 'body'] as const
const release = ['release_id'] as const
const checkRun = ['check_run_id', 'check_suite_id'] as const
const checkSuite = ['check_suite_id', 'commit'] as const
const requestedSuite = [...checkSuite, 'for_app_id'] as const
const status = ['status_id', 'commit', 'branches', 'commit_author_id', 'committer_id'] as const

/** Every act that exists, the facts that it states, and what follows from it. CONTRIBUTING.md shows how to add one. */
// biome-ignore format: one line for each act.
export const acts = {
  'repo.created': { facts: newRef, timeline: 'CreateEvent repository', webhook: 'repository created' },
  'repo.forked': { facts: ['forkee_id'], timeline: 'ForkEvent', webhook: 'fork' },
  'repo.created_as_fork': { facts: [], webhook: 'repository created' },
  // Timelines call a star a "watch": the name is older than stars are, and clients rely on it.
  'repo.starred': { facts: [], timeline: 'WatchEvent started', webhook: ['star created', 'watch started'] },
  'repo.unstarred': { facts: [], webhook: 'star deleted' },
  'repo.renamed': { facts: ['changes'], webhook: 'repository renamed' },
  'repo.edited': { facts: ['changes'], webhook: 'repository edited' },
  'repo.archived': { facts: [], webhook: 'repository archived' },
  'repo.unarchived': { facts: [], webhook: 'repository unarchived' },
  'repo.publicized': { facts: [], timeline: 'PublicEvent', webhook: ['repository publicized', 'public'] },
  'repo.privatized': { facts: [], webhook: 'repository privatized' },
  'repo.transferred': { facts: ['former_owner_id'], webhook: 'repository transferred' },
  'repo.deleted': { facts: [], webhook: 'repository deleted' },
  'transfer.offered': { facts: ['transfer_id', 'people'], notice: 'offered' },

  'branch.created': { facts: newRef, timeline: 'CreateEvent branch', webhook: 'create' },
  'branch.deleted': { facts: ref, timeline: 'DeleteEvent branch', webhook: 'delete' },
  'tag.created': { facts: newRef, timeline: 'CreateEvent tag', webhook: 'create' },
  'tag.deleted': { facts: ref, timeline: 'DeleteEvent tag', webhook: 'delete' },
  'push.with_commits': { facts: push, timeline: 'PushEvent', webhook: 'push' },
  // A ref that is deleted, or new and without commits of its own, is a push only for webhooks.
  'push.without_commits': { facts: ['delivery'], webhook: 'push' },

  'member.invited': { facts: ['invitation_id', 'people'], notice: 'invited' },
  'member.accepted': { facts: ['invitation_id', 'people'], notice: 'accepted' },
  'member.added': { facts: ['member_id', 'changes'], timeline: 'MemberEvent added', webhook: 'member added' },
  'member.edited': { facts: ['member_id', 'changes'], webhook: 'member edited' },
  'member.removed': { facts: ['member_id'], webhook: 'member removed' },

  'issue.opened': { facts: written, timeline: 'IssuesEvent opened', notice: 'opened', webhook: 'issues opened' },
  'issue.edited': { facts: edited, notice: 'edited', webhook: 'issues edited' },
  'issue.renamed': { facts: renamed, history: 'renamed' },
  'issue.closed': { facts: closed, timeline: 'IssuesEvent closed', history: 'closed', notice: 'closed', webhook: 'issues closed' },
  'issue.reopened': { facts: closed, timeline: 'IssuesEvent reopened', history: 'reopened', notice: 'reopened', webhook: 'issues reopened' },
  'issue.locked': { facts: locked, history: 'locked', webhook: 'issues locked' },
  'issue.unlocked': { facts: locked, history: 'unlocked', webhook: 'issues unlocked' },
  'issue.assigned': { facts: assigned, timeline: 'IssuesEvent assigned', history: 'assigned', notice: 'assigned', webhook: 'issues assigned' },
  'issue.unassigned': { facts: assigned, timeline: 'IssuesEvent unassigned', history: 'unassigned', webhook: 'issues unassigned' },
  'issue.labeled': { facts: labeled, timeline: 'IssuesEvent labeled', history: 'labeled', webhook: 'issues labeled' },
  'issue.unlabeled': { facts: labeled, timeline: 'IssuesEvent unlabeled', history: 'unlabeled', webhook: 'issues unlabeled' },
  'issue.milestoned': { facts: milestoned, history: 'milestoned', webhook: 'issues milestoned' },
  'issue.demilestoned': { facts: milestoned, history: 'demilestoned', webhook: 'issues demilestoned' },

  'pull.opened': { facts: written, timeline: 'PullRequestEvent opened', notice: 'opened', webhook: 'pull_request opened' },
  'pull.edited': { facts: edited, notice: 'edited', webhook: 'pull_request edited' },
  'pull.base_changed': { facts: [...issue, 'changes'], webhook: 'pull_request edited' },
  'pull.renamed': { facts: renamed, history: 'renamed' },
  'pull.pushed': { facts: moved, notice: 'pushed', webhook: 'pull_request synchronize' },
  // The head moved while the pull request was being opened, so nobody is notified of the commits.
  'pull.caught_up': { facts: moved, webhook: 'pull_request synchronize' },
  'pull.closed': { facts: closed, timeline: 'PullRequestEvent closed', history: 'closed', notice: 'closed', webhook: 'pull_request closed' },
  'pull.merged': { facts: [...issue, 'merged', 'commit_id'], timeline: 'PullRequestEvent closed', history: 'merged', notice: 'merged', webhook: 'pull_request closed' },
  // Published with `pull.merged` when the pull request was open.
  'pull.closed_by_merge': { facts: issue, history: 'closed' },
  'pull.reopened': { facts: closed, timeline: 'PullRequestEvent reopened', history: 'reopened', notice: 'reopened', webhook: 'pull_request reopened' },
  'pull.locked': { facts: locked, history: 'locked', webhook: 'pull_request locked' },
  'pull.unlocked': { facts: locked, history: 'unlocked', webhook: 'pull_request unlocked' },
  'pull.assigned': { facts: assigned, timeline: 'PullRequestEvent assigned', history: 'assigned', notice: 'assigned', webhook: 'pull_request assigned' },
  'pull.unassigned': { facts: assigned, timeline: 'PullRequestEvent unassigned', history: 'unassigned', webhook: 'pull_request unassigned' },
  'pull.labeled': { facts: labeled, timeline: 'PullRequestEvent labeled', history: 'labeled', webhook: 'pull_request labeled' },
  'pull.unlabeled': { facts: labeled, timeline: 'PullRequestEvent unlabeled', history: 'unlabeled', webhook: 'pull_request unlabeled' },
  'pull.milestoned': { facts: milestoned, history: 'milestoned', webhook: 'pull_request milestoned' },
  'pull.demilestoned': { facts: milestoned, history: 'demilestoned', webhook: 'pull_request demilestoned' },
  'pull.converted_to_draft': { facts: issue, history: 'convert_to_draft', webhook: 'pull_request converted_to_draft' },
  'pull.ready_for_review': { facts: issue, history: 'ready_for_review', webhook: 'pull_request ready_for_review' },
  'pull.review_requested': { facts: person, history: 'review_requested', notice: 'review_requested', webhook: 'pull_request review_requested' },
  'pull.review_request_removed': { facts: person, history: 'review_request_removed', webhook: 'pull_request review_request_removed' },
  'pull.team_review_requested': { facts: team, history: 'review_requested', notice: 'review_requested', webhook: 'pull_request review_requested' },
  'pull.team_review_request_removed': { facts: team, history: 'review_request_removed', webhook: 'pull_request review_request_removed' },

  'issue_comment.created': { facts: [...comment, 'body'], timeline: 'IssueCommentEvent created', notice: 'commented', webhook: 'issue_comment created' },
  'issue_comment.edited': { facts: [...comment, 'body', 'changes'], notice: 'edited', webhook: 'issue_comment edited' },
  'issue_comment.deleted': { facts: comment, webhook: 'issue_comment deleted' },

  'review.submitted': { facts: [...review, 'body'], timeline: 'PullRequestReviewEvent created', notice: 'reviewed', webhook: 'pull_request_review submitted' },
  'review.edited': { facts: [...review, 'body', 'changes'], notice: 'edited', webhook: 'pull_request_review edited' },
  'review.dismissed': { facts: review, webhook: 'pull_request_review dismissed' },
  // A comment by itself is a review of its own.
  'review_comment.created': { facts: [...lineComment, 'review_id', 'body'], timeline: 'PullRequestReviewCommentEvent created', notice: 'commented', webhook: ['pull_request_review submitted', 'pull_request_review_comment created'] },
  // Published with `review.submitted`.
  'review_comment.submitted': { facts: lineComment, webhook: 'pull_request_review_comment created' },
  'review_comment.edited': { facts: [...lineComment, 'body', 'changes'], notice: 'edited', webhook: 'pull_request_review_comment edited' },
  'review_comment.deleted': { facts: lineComment, webhook: 'pull_request_review_comment deleted' },
  'review_thread.resolved': { facts: thread, webhook: 'pull_request_review_thread resolved' },
  'review_thread.unresolved': { facts: thread, webhook: 'pull_request_review_thread unresolved' },

  'commit_comment.created': { facts: commitComment, timeline: 'CommitCommentEvent created', notice: 'commented', webhook: 'commit_comment created' },
  'commit_comment.edited': { facts: [...commitComment, 'changes'], notice: 'edited' },

  'release.created': { facts: release, webhook: 'release created' },
  'release.published': { facts: [...release, 'body'], timeline: 'ReleaseEvent published', notice: 'published', webhook: 'release published' },
  'release.unpublished': { facts: release, webhook: 'release unpublished' },
  'release.released': { facts: release, webhook: 'release released' },
  'release.prereleased': { facts: release, webhook: 'release prereleased' },
  'release.edited': { facts: [...release, 'changes'], webhook: 'release edited' },
  'release.deleted': { facts: release, webhook: 'release deleted' },

  'label.created': { facts: ['label_id'], webhook: 'label created' },
  'label.edited': { facts: ['label_id', 'changes'], webhook: 'label edited' },
  'label.deleted': { facts: ['label_id'], webhook: 'label deleted' },
  'milestone.created': { facts: ['milestone_id'], webhook: 'milestone created' },
  'milestone.closed': { facts: ['milestone_id'], webhook: 'milestone closed' },
  'milestone.opened': { facts: ['milestone_id'], webhook: 'milestone opened' },
  'milestone.edited': { facts: ['milestone_id', 'changes'], webhook: 'milestone edited' },
  'milestone.deleted': { facts: ['milestone_id'], webhook: 'milestone deleted' },

  'protection.created': { facts: ['protection_id'], webhook: 'branch_protection_rule created' },
  'protection.edited': { facts: ['protection_id', 'changes'], webhook: 'branch_protection_rule edited' },
  'protection.deleted': { facts: ['protection_id'], webhook: 'branch_protection_rule deleted' },
  'check_run.created': { facts: checkRun, webhook: 'check_run created' },
  'check_run.completed': { facts: checkRun, webhook: 'check_run completed' },
  'check_run.rerequested': { facts: [...checkRun, 'for_app_id'], webhook: 'check_run rerequested' },
  'check_suite.requested': { facts: requestedSuite, webhook: 'check_suite requested' },
  'check_suite.completed': { facts: checkSuite, webhook: 'check_suite completed' },
  'check_suite.rerequested': { facts: requestedSuite, webhook: 'check_suite rerequested' },
  'deployment.created': { facts: ['deployment_id'], webhook: 'deployment created' },
  'deployment_status.created': { facts: ['deployment_id', 'deployment_status_id'], webhook: 'deployment_status created' },
  'deploy_key.created': { facts: ['deploy_key_id'], webhook: 'deploy_key created' },
  'deploy_key.deleted': { facts: ['deploy_key_id'], webhook: 'deploy_key deleted' },
  'status.created': { facts: status, webhook: 'status' },

  'import.completed': { facts: ['import_id', 'title', 'status'], notice: 'imported', webhook: 'repository_import' },
  // An import that runs again brings nothing new to the inbox.
  'import.repeated': { facts: ['status'], webhook: 'repository_import' },
  'import.failed': { facts: ['status'], webhook: 'repository_import' },
  'import.cancelled': { facts: ['status'], webhook: 'repository_import' },
  'import.status_changed': { facts: ['status', 'previous_status', 'import'], webhook: 'RepositoryImportEvent' },
  'hook.paused': { facts: ['hook_id', 'title', 'people'], notice: 'paused' },
} as const satisfies Record<string, Meaning>

const inTeam = ['team_id', 'member_id'] as const
const teamRepo = ['team_id', 'repo_id', 'access'] as const

/** Acts in an organization, published with `publishInOrganization`. Only webhooks follow, because timelines and inboxes are about repositories. */
// biome-ignore format: one line for each act.
export const organizationActs = {
  'organization.renamed': { facts: ['changes'], webhook: 'organization renamed' },
  'organization.member_added': { facts: ['member_id', 'role'], webhook: 'organization member_added' },
  'organization.member_invited': { facts: ['organization_invitation_id', 'member_id'], webhook: 'organization member_invited' },
  'organization.member_removed': { facts: ['member_id', 'role'], webhook: 'organization member_removed' },
  'team.created': { facts: ['team_id'], webhook: 'team created' },
  'team.edited': { facts: ['team_id', 'changes'], webhook: 'team edited' },
  'team.deleted': { facts: ['team_id'], webhook: 'team deleted' },
  'team.member_added': { facts: inTeam, webhook: 'membership added' },
  'team.member_removed': { facts: inTeam, webhook: 'membership removed' },
  'team.added_to_repository': { facts: teamRepo, webhook: ['team added_to_repository', 'team_add'] },
  'team.access_edited': { facts: [...teamRepo, 'changes'], webhook: 'team edited' },
  'team.removed_from_repository': { facts: teamRepo, webhook: 'team removed_from_repository' },
  // A user who leaves an organization leaves all of its repositories at once.
  'member.removed_with_membership': { facts: ['repo_id', 'member_id'], webhook: 'member removed' },
  'member.added_by_conversion': { facts: ['repo_id', 'member_id', 'changes'], webhook: 'member added' },
} as const satisfies Record<string, Pick<Meaning, 'facts' | 'webhook'>>

/** The facts that an event of each type keeps. */
export const eventFacts: Record<EventType, (keyof Facts)[]> = {
  CreateEvent: ['ref', 'ref_type', 'master_branch', 'description'],
  DeleteEvent: ['ref', 'ref_type'],
  PushEvent: ['push_id', 'ref', 'head', 'before', 'size', 'distinct_size', 'commits'],
  ForkEvent: ['forkee_id'],
  WatchEvent: [],
  PublicEvent: [],
  MemberEvent: ['member_id'],
  ReleaseEvent: ['release_id'],
  IssuesEvent: ['issue_id', 'assignee_id', 'label_id'],
  PullRequestEvent: ['pull_id', 'assignee_id', 'label_id', 'merged'],
  IssueCommentEvent: ['issue_id', 'comment_id'],
  PullRequestReviewEvent: ['pull_id', 'review_id'],
  PullRequestReviewCommentEvent: ['pull_id', 'review_comment_id'],
  CommitCommentEvent: ['commit_comment_id'],
}

/** An event as the log stores it. `record_events` adds the records it refers to as they are at that moment, see parts/timelines/facts.ts. */
export type LoggedEvent =
  | {
      type: 'CreateEvent'
      payload: {
        /** Null when the repository itself was made. */
        ref: string | null
        ref_type: 'repository' | 'branch' | 'tag'
        master_branch: string
        description: string | null
      }
    }
  | { type: 'DeleteEvent'; payload: { ref: string; ref_type: 'branch' | 'tag' } }
  | { type: 'PushEvent'; payload: Push }
  | { type: 'ForkEvent'; payload: { forkee_id: number } }
  // Timelines call a star a "watch": the name is older than stars are, and clients rely on it.
  | { type: 'WatchEvent'; payload: { action: 'started' } }
  | { type: 'PublicEvent'; payload: Record<string, never> }
  | { type: 'MemberEvent'; payload: { action: 'added'; member_id: number } }
  | { type: 'ReleaseEvent'; payload: { action: 'published'; release_id: number } }
  | { type: 'IssuesEvent'; payload: { action: 'opened' | 'closed' | 'reopened'; issue_id: number } }
  | { type: 'IssuesEvent'; payload: { action: 'assigned' | 'unassigned'; issue_id: number; assignee_id: number } }
  | { type: 'IssuesEvent'; payload: { action: 'labeled' | 'unlabeled'; issue_id: number; label_id: number } }
  | { type: 'PullRequestEvent'; payload: { action: 'opened' | 'closed' | 'reopened'; pull_id: number; merged?: true } }
  | { type: 'PullRequestEvent'; payload: { action: 'assigned' | 'unassigned'; pull_id: number; assignee_id: number } }
  | { type: 'PullRequestEvent'; payload: { action: 'labeled' | 'unlabeled'; pull_id: number; label_id: number } }
  | { type: 'IssueCommentEvent'; payload: { action: 'created'; issue_id: number; comment_id: number } }
  | { type: 'PullRequestReviewEvent'; payload: { action: 'created'; pull_id: number; review_id: number } }
  | { type: 'PullRequestReviewCommentEvent'; payload: { action: 'created'; pull_id: number; review_comment_id: number } }
  | { type: 'CommitCommentEvent'; payload: { action: 'created'; commit_comment_id: number } }

export type EventType = LoggedEvent['type']

export type ActName = keyof typeof acts
type Row<Name extends ActName> = (typeof acts)[Name]
export type Act = { [Name in ActName]: { act: Name } & Pick<Facts, Row<Name>['facts'][number]> }[ActName]

export type OrganizationActName = keyof typeof organizationActs
type OrganizationRow<Name extends OrganizationActName> = (typeof organizationActs)[Name]
export type OrganizationAct = {
  [Name in OrganizationActName]: { act: Name } & Pick<Facts, OrganizationRow<Name>['facts'][number]>
}[OrganizationActName]

type Entries<Key extends string> = { [Name in ActName]: Row<Name> extends { [K in Key]: infer Entry } ? Entry : never }[ActName]
export type HistoryName = Entries<'history'>
type Listed<Names> = Names extends readonly (infer Name)[] ? Name : Names
type FirstWord<Name> = Name extends `${infer Word} ${string}` ? Word : Name
/** The name of a webhook event of a repository, as hooks subscribe to it. */
export type WebhookName = FirstWord<Listed<Entries<'webhook'>>>
export type OrganizationWebhookName = FirstWord<Listed<OrganizationRow<OrganizationActName>['webhook']>>

export const meaningOf = (name: ActName): Meaning => acts[name]

/** The webhook events of an act, in the order of delivery. */
export const webhooksOf = (name: ActName) => splitNames<WebhookName>(meaningOf(name).webhook)
export const organizationWebhooksOf = (name: OrganizationActName) =>
  splitNames<OrganizationWebhookName>(organizationActs[name].webhook)

function splitNames<Name extends string>(webhook: Meaning['webhook'] = []) {
  return [webhook].flat().map((each) => {
    const [event, action] = each.split(' ') as [Name, string?]
    return { event, action: action ?? null }
  })
}

export const webhookNames = [...new Set((Object.keys(acts) as ActName[]).flatMap(webhooksOf).map(({ event }) => event))]
export const organizationWebhookNames = [
  ...new Set((Object.keys(organizationActs) as OrganizationActName[]).flatMap(organizationWebhooksOf).map(({ event }) => event)),
]

const repositoryEvents = new Set<string>([...webhookNames, 'team_add' satisfies OrganizationWebhookName])
/** Whether hooks of a repository get the event. */
export const isRepositoryEvent = (event: WebhookName | OrganizationWebhookName) => repositoryEvents.has(event)
