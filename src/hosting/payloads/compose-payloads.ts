import { unaddressed as wire } from '#activity/outbox/addresses.ts'
import { commitCommentJson } from '#hosting/commit-comments/json.ts'
import { labelJson } from '#hosting/labels/json.ts'
import { milestoneJson } from '#hosting/milestones/json.ts'
import { simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { releaseJson } from '#hosting/releases/json.ts'
import type { Account, Person } from '#identity/accounts.ts'
import { commentFields, issueFields } from './issue-payload.ts'
import type { News } from './news.ts'
import { named, type Scene } from './payload-context.ts'
import { pullFields, reviewCommentFields, reviewFields } from './pull-payload.ts'
import { pushFields, pushRepository } from './push-payload.ts'
import { toldRepositoryJson } from './repository-payload.ts'

/** Who did something, and whose repository it was in. */
export interface Cast {
  sender: Person
  owner: Pick<Account, 'id' | 'type' | 'login' | 'bio' | 'email'>
}

/** What receivers are sent, as JSON: what happened, where, and who did it. */
export function writePayload(news: News, scene: Scene, { sender, owner }: Cast): string {
  const repository = news.event === 'push' ? pushRepository(scene.repo, owner) : toldRepositoryJson(scene.repo)
  return JSON.stringify({
    ...ownFields(news, scene, sender),
    repository,
    ...(owner.type === 'Organization' && { organization: simpleOrganizationJson(owner, wire) }),
    sender: userJson(sender, wire),
  })
}

/** What each event has of its own. Payloads of some need no more than what they are told with. */
function ownFields({ event, payload }: News, scene: Scene, sender: Person): object {
  const { repo, mentioned } = scene
  switch (event) {
    case 'push':
      return pushFields(payload, repo, sender)
    case 'create':
      return { ...payload, master_branch: repo.default_branch, description: repo.description, pusher_type: 'user' }
    case 'delete':
      return { ...payload, pusher_type: 'user' }
    case 'fork': {
      const forkee = named(mentioned.repositories, payload.forkee_id)
      return { forkee: { ...toldRepositoryJson(forkee), public: !forkee.private } }
    }
    case 'star':
    case 'watch':
    case 'public':
    case 'repository':
    case 'repository_import':
    case 'RepositoryImportEvent':
      return payload
    case 'member': {
      const { member_id, ...rest } = payload
      return { ...rest, member: userJson(named(mentioned.people, member_id), wire) }
    }
    case 'release': {
      const { release_id, ...rest } = payload
      const release = releaseJson(named(mentioned.releases, release_id), repo, wire)
      // Receivers count on texts.
      return { ...rest, release: { ...release, name: release.name ?? '', body: release.body ?? '' } }
    }
    case 'issues':
      return issueFields(payload, scene)
    case 'issue_comment':
      return commentFields(payload, scene)
    case 'pull_request':
      return pullFields(payload, scene)
    case 'pull_request_review':
      return reviewFields(payload, scene)
    case 'pull_request_review_comment':
      return reviewCommentFields(payload, scene)
    case 'commit_comment': {
      const { commit_comment_id, ...rest } = payload
      return { ...rest, comment: commitCommentJson(named(mentioned.commit_comments, commit_comment_id), repo, wire) }
    }
    case 'label': {
      const { label_id, ...rest } = payload
      return { ...rest, label: labelJson(named(mentioned.labels, label_id), repo, wire) }
    }
    case 'milestone': {
      const { milestone_id, ...rest } = payload
      return { ...rest, milestone: milestoneJson(named(mentioned.milestones, milestone_id), repo, wire) }
    }
  }
}
