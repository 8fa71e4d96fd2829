import { createRun, type RunChanges } from '#hosting/checks/runs.ts'
import { acceptInvitation, addCollaborator } from '#hosting/collaborators/collaborators.ts'
import { createComment } from '#hosting/issues/comments/update.ts'
import { createIssue, type IssueChanges, type NewIssue, updateIssue } from '#hosting/issues/update.ts'
import { createLabel } from '#hosting/labels/update.ts'
import { loadMilestone } from '#hosting/milestones/milestones.ts'
import { createMilestone, type MilestoneChanges, updateMilestone } from '#hosting/milestones/update.ts'
import { follow as followUser } from '#hosting/people/people.ts'
import { type MergeMethod, mergePull } from '#hosting/pulls/merging.ts'
import { createPull, type NewPull } from '#hosting/pulls/opening.ts'
import { loadPull } from '#hosting/pulls/pulls.ts'
import { updatePull } from '#hosting/pulls/update.ts'
import { adoptRefs } from '#hosting/pushes/pushes.ts'
import { type Content, react } from '#hosting/reactions/reactions.ts'
import { createRelease, type ReleaseChanges } from '#hosting/releases/releases.ts'
import { forkRepository } from '#hosting/repositories/forks.ts'
import { requestReviews } from '#hosting/reviews/requests/requests.ts'
import { createReview, type Verdict } from '#hosting/reviews/update.ts'
import { createStatus, type NewStatus } from '#hosting/statuses/statuses.ts'
import { type Access, levelOf } from '#identity/access.ts'
import { star } from '#parts/starring/starring.ts'
import { setSubscription } from '#parts/watching/watching.ts'
import type { Commit, Stage } from './stage.ts'

/**
 * Opens an issue that the story calls `name` from now on. `least` is the access that the author has at least, such as triage to give the issue
 * labels, as a form for new issues does.
 */
export async function openIssue(
  stage: Stage,
  by: string,
  full_name: string,
  name: string,
  issue: NewIssue & { body: string },
  least: Access = 'pull',
) {
  const { actor, repo, viewer } = await stage.as(by, full_name)
  const wanted = { ...issue, body: stage.text(issue.body) }
  const raised = { ...repo, access: Math.max(repo.access, levelOf(least)) }
  const { number } = await stage.transaction((db) => createIssue(db, viewer, raised, actor, wanted))
  stage.numbers.set(name, number)
}

export async function comment(stage: Stage, by: string, full_name: string, name: string, body: string) {
  const { actor, repo, viewer } = await stage.as(by, full_name)
  return stage.transaction((db) => createComment(db, viewer, repo, actor, stage.numberOf(name), stage.text(body)))
}

export async function changeIssue(stage: Stage, by: string, full_name: string, name: string, changes: IssueChanges) {
  const { actor, repo, viewer } = await stage.as(by, full_name)
  await stage.transaction((db) => updateIssue(db, viewer, repo, actor, stage.numberOf(name), changes))
}

export const closeIssue = (stage: Stage, by: string, full_name: string, name: string, reason?: 'not_planned') =>
  changeIssue(stage, by, full_name, name, { state: 'closed', ...(reason && { state_reason: reason }) })

export async function addReaction(stage: Stage, by: string, full_name: string, comment_id: number, content: Content) {
  const { actor, repo } = await stage.as(by, full_name)
  await stage.transaction((db) => react(db, repo, actor, { column: 'comment_id', id: comment_id, locked: false }, content))
}

export async function addLabels(
  stage: Stage,
  by: string,
  full_name: string,
  labels: [name: string, color: string, text: string][],
) {
  const { actor, repo } = await stage.as(by, full_name)
  await stage.transaction(async (db) => {
    for (const [name, color, description] of labels) await createLabel(db, repo, actor, { name, color, description })
  })
}

export async function addMilestone(
  stage: Stage,
  by: string,
  full_name: string,
  name: string,
  wanted: MilestoneChanges & { title: string },
) {
  const { actor, repo } = await stage.as(by, full_name)
  const { number } = await stage.transaction((db) => createMilestone(db, repo, actor, wanted))
  stage.numbers.set(name, number)
}

export async function closeMilestone(stage: Stage, by: string, full_name: string, name: string) {
  const { actor, repo } = await stage.as(by, full_name)
  await stage.transaction(async (db) => {
    const milestone = await loadMilestone(db, repo, stage.numberOf(name))
    await updateMilestone(db, repo, actor, milestone, { state: 'closed' })
  })
}

export interface StoryPull extends Omit<NewPull, 'head' | 'base' | 'body'> {
  title: string
  body: string
  branch: string
  commits: Commit[]
  /** The repository of the branch, if it is a fork. */
  from?: string
  reviewers?: string[]
  teams?: string[]
}

/** Pushes a branch and opens a pull request of it. */
export async function openPull(stage: Stage, by: string, full_name: string, name: string, wanted: StoryPull) {
  const { branch, commits, from = full_name, ...pull } = wanted
  await stage.push(by, from, commits, branch)
  stage.clock.advance(4)
  await openPullOf(stage, by, full_name, name, { ...pull, head: `${from.split('/')[0]}:${branch}`, base: 'main' })
}

export interface PushedPull extends NewPull {
  body: string
  reviewers?: string[]
  teams?: string[]
}

/** Opens a pull request of a branch that is pushed already. */
export async function openPullOf(stage: Stage, by: string, full_name: string, name: string, wanted: PushedPull) {
  const { reviewers = [], teams = [], ...pull } = wanted
  const { actor, repo, viewer } = await stage.as(by, full_name)
  const said = { ...pull, body: stage.text(pull.body) }
  const { number } = await createPull(stage.db, stage.storage, viewer, repo, actor, said)
  stage.numbers.set(name, number)
  if (!reviewers.length && !teams.length) return
  await stage.transaction((db) => requestReviews(db, viewer, repo, actor, number, { reviewers, team_reviewers: teams }))
}

export async function reviewPull(
  stage: Stage,
  by: string,
  full_name: string,
  name: string,
  event: Verdict,
  body: string,
  comments: { path: string; line: number; body: string }[] = [],
) {
  const { actor, repo } = await stage.as(by, full_name)
  await createReview(stage.db, stage.storage, repo, actor, stage.numberOf(name), { event, body: stage.text(body), comments })
}

/** Merges, and lets the story's `main` have the commits of the branch too. */
export async function mergeInto(
  stage: Stage,
  by: string,
  full_name: string,
  name: string,
  branch: string,
  merge_method: MergeMethod,
  from = full_name,
) {
  const { sha } = await merge(stage, by, full_name, name, merge_method)
  const main = stage.branch(full_name, 'main')
  for (const { files } of stage.branch(from, branch).commits) stage.edit(main, files)
  main.head = sha
}

export async function merge(stage: Stage, by: string, full_name: string, name: string, merge_method: MergeMethod) {
  const { actor, repo } = await stage.as(by, full_name)
  return mergePull(stage.db, stage.storage, repo, actor, stage.numberOf(name), { merge_method })
}

export async function closePull(stage: Stage, by: string, full_name: string, name: string) {
  const { actor, repo, viewer } = await stage.as(by, full_name)
  await updatePull(stage.db, stage.storage, viewer, repo, actor, stage.numberOf(name), { state: 'closed' })
}

export async function publishRelease(stage: Stage, by: string, full_name: string, wanted: ReleaseChanges & { tag_name: string }) {
  const { actor, repo } = await stage.as(by, full_name)
  return createRelease(stage.db, stage.storage, repo, actor, { ...wanted, body: stage.text(wanted.body ?? '') })
}

/** The head of a pull request. */
export async function headOf(stage: Stage, full_name: string, name: string) {
  const { repo } = await stage.as(full_name.split('/')[0] === 'clockwork' ? 'cleo' : 'ada', full_name)
  return (await loadPull(stage.db, repo, stage.numberOf(name))).head_sha
}

export async function setStatus(stage: Stage, by: string, full_name: string, sha: string, status: NewStatus) {
  const { actor, repo } = await stage.as(by, full_name)
  await createStatus(stage.db, stage.storage, repo, actor, sha, status)
}

export async function runCheck(
  stage: Stage,
  by: string,
  full_name: string,
  run: RunChanges & { name: string; head_sha: string },
) {
  const { actor, repo } = await stage.as(by, full_name)
  await createRun(stage.db, stage.storage, repo, actor, run)
}

export async function giveStar(stage: Stage, by: string, full_name: string) {
  const { actor, repo } = await stage.as(by, full_name)
  await star(stage.db, actor, repo)
}

export async function watch(stage: Stage, by: string, full_name: string) {
  const { actor, repo } = await stage.as(by, full_name)
  await stage.transaction((db) => setSubscription(db, actor, repo, {}))
}

export const follow = (stage: Stage, follower: string, followed: string) =>
  stage.transaction((db) => followUser(db, stage.account(follower), stage.account(followed)))

/** Invites a user, who accepts some minutes later. */
export async function collaborate(stage: Stage, by: string, full_name: string, login: string, permission: Access, minutes = 45) {
  const { actor, repo } = await stage.as(by, full_name)
  const invited = stage.account(login)
  const invitation = await stage.transaction((db) => addCollaborator(db, repo, actor, invited, levelOf(permission)))
  stage.clock.advance(minutes)
  if (invitation) await stage.transaction((db) => acceptInvitation(db, invited, invitation.id))
  stage.forgetAccess()
}

export async function fork(stage: Stage, by: string, full_name: string, owner = by, name?: string) {
  const { actor, repo, viewer } = await stage.as(by, full_name)
  const copy = await stage.transaction(async (db) => {
    const copy = await forkRepository(db, viewer, repo, actor, stage.account(owner), { name })
    // Copies the few kilobytes now, because the next commits need them before the fork's own job has run.
    await stage.storage.copy(repo.id, copy.id, copy.default_branch, null, (refs) => adoptRefs(db, copy.id, refs))
    return copy
  })
  stage.copyBranch(full_name, `${copy.owner_login}/${copy.name}`)
}
