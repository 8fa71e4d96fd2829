import { noObject } from '#git/objects.ts'
import type { Mentioned } from '#hosting/mentioned.ts'
import type { TimelineEvent } from '#parts/timelines/timelines.ts'
import { type Markup, xml } from './markup.ts'

/** An event in the words of a feed. */
export interface Entry {
  id: number
  type: TimelineEvent['type']
  actor: { id: number; login: string }
  created_at: Date
  /** The page that shows most of it. */
  link: string
  title: string
  /** The same with links, and what there is to add. */
  content: Markup
}

/** A sentence without its subject: words, and things to follow a link to. */
type Words = (string | Thing)[]
interface Thing {
  name: string
  href: string
}

interface Told {
  words: Words
  link: string
  more?: Markup
}

export function entryOf(event: TimelineEvent, mentioned: Mentioned, web: string): Entry {
  const { id, type, created_at, actor_id, actor_login: login } = event
  const { words, link, more } = tell(event, mentioned, web)
  const sentence: Words = [{ name: login, href: `${web}/${login}` }, ' ', ...words]
  return {
    id,
    type,
    actor: { id: actor_id, login },
    created_at,
    link,
    title: sentence.map((word) => (typeof word === 'string' ? word : word.name)).join(''),
    content: xml`<p>${sentence.map((word) => (typeof word === 'string' ? word : anchor(word)))}</p>${more}`,
  }
}

const anchor = ({ name, href }: Thing) => xml`<a href="${href}">${name}</a>`

function tell(event: TimelineEvent, mentioned: Mentioned, web: string): Told {
  const repo = repositoryAt(web, event.owner_login, event.repo_name)
  switch (event.type) {
    case 'PushEvent':
      return tellPush(event.payload, repo)
    case 'CreateEvent': {
      const { ref, ref_type, description } = event.payload
      if (ref === null) return { words: ['created a repository ', repo], link: repo.href, more: paragraph(description) }
      const made = { name: ref, href: treeOf(repo, ref) }
      return { words: [`created a ${ref_type} `, made, ' in ', repo], link: made.href }
    }
    case 'DeleteEvent':
      return { words: [`deleted a ${event.payload.ref_type} ${event.payload.ref} in `, repo], link: repo.href }
    case 'ForkEvent': {
      const forkee = mentioned.repositories.get(event.payload.forkee_id)
      if (!forkee) return { words: ['forked ', repo], link: repo.href }
      const fork = repositoryAt(web, forkee.owner_login, forkee.name)
      return { words: ['forked ', repo, ' to ', fork], link: fork.href }
    }
    case 'WatchEvent':
      return { words: ['starred ', repo], link: repo.href }
    case 'PublicEvent':
      return { words: ['made ', repo, ' public'], link: repo.href }
    case 'MemberEvent':
      return { words: ['added ', personAt(mentioned, event.payload.member_id, web), ' to ', repo], link: repo.href }
    case 'ReleaseEvent': {
      const release = mentioned.releases.get(event.payload.release_id)
      if (!release) return { words: ['published a release in ', repo], link: repo.href }
      const page = { name: release.tag_name, href: `${repo.href}/releases/tag/${encodePath(release.tag_name)}` }
      return { words: ['published release ', page, ' in ', repo], link: page.href, more: paragraph(release.name) }
    }
    case 'IssuesEvent':
      return tellIssue(event.payload, 'issue', issueAt(mentioned, event.payload.issue_id, repo), mentioned, repo, web)
    case 'PullRequestEvent':
      return tellIssue(event.payload, 'pull request', pullAt(mentioned, event.payload.pull_id, repo), mentioned, repo, web)
    case 'IssueCommentEvent': {
      const { issue_id, comment_id } = event.payload
      const issue = issueAt(mentioned, issue_id, repo)
      const link = `${issue.href}#issuecomment-${comment_id}`
      const said = mentioned.comments.get(comment_id)?.body.slice(0, 1000) ?? null
      return {
        words: [`commented on ${issue.kind} `, { ...issue, href: link }, ' in ', repo],
        link,
        more: xml`${paragraph(issue.title)}${paragraph(said)}`,
      }
    }
    case 'PullRequestReviewEvent': {
      const pull = pullAt(mentioned, event.payload.pull_id, repo)
      const { state = '', body = '' } = mentioned.reviews.get(event.payload.review_id) ?? {}
      const link = `${pull.href}#pullrequestreview-${event.payload.review_id}`
      const words = [`${verdicts[state] ?? 'reviewed'} pull request `, { ...pull, href: link }, ' in ', repo]
      return { words, link, more: xml`${paragraph(pull.title)}${paragraph(body.slice(0, 1000))}` }
    }
    case 'PullRequestReviewCommentEvent': {
      const pull = pullAt(mentioned, event.payload.pull_id, repo)
      const comment = mentioned.review_comments.get(event.payload.review_comment_id)
      const link = `${pull.href}#discussion_r${event.payload.review_comment_id}`
      return {
        words: [`commented on ${comment?.path ?? 'a file'} in pull request `, { ...pull, href: link }, ' in ', repo],
        link,
        more: xml`${paragraph(pull.title)}${paragraph(comment?.body.slice(0, 1000) ?? null)}`,
      }
    }
    case 'CommitCommentEvent': {
      const comment = mentioned.commit_comments.get(event.payload.commit_comment_id)
      if (!comment) return { words: ['commented on a commit in ', repo], link: repo.href }
      const link = `${repo.href}/commit/${comment.commit_id}#commitcomment-${comment.id}`
      const commit = { name: comment.commit_id.slice(0, 7), href: link }
      return { words: ['commented on commit ', commit, ' in ', repo], link, more: paragraph(comment.body.slice(0, 1000)) }
    }
  }
}

const verdicts: Record<string, string> = { APPROVED: 'approved', CHANGES_REQUESTED: 'asked for changes to' }

function repositoryAt(web: string, owner: string, name: string): Thing {
  return { name: `${owner}/${name}`, href: `${web}/${owner}/${name}` }
}

function personAt(mentioned: Mentioned, id: number, web: string): Thing {
  const { login = 'someone' } = mentioned.people.get(id) ?? {}
  return { name: login, href: `${web}/${login}` }
}

function tellPush({ ref, before, head, size, commits }: (TimelineEvent & { type: 'PushEvent' })['payload'], repo: Thing): Told {
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const branch = { name, href: treeOf(repo, name) }
  // The last few are kept, oldest first; a reader wants the newest.
  const list = commits.toReversed().map(({ sha, message }) => {
    const commit = { name: sha.slice(0, 7), href: `${repo.href}/commit/${sha}` }
    return xml`<li><code>${anchor(commit)}</code> ${firstLine(message)}</li>`
  })
  const others = size - commits.length
  const link = before === noObject ? branch.href : `${repo.href}/compare/${before.slice(0, 10)}...${head.slice(0, 10)}`
  return {
    words: ['pushed to ', branch, ' in ', repo],
    link,
    more: xml`${list.length > 0 && xml`<ul>${list}</ul>`}${others > 0 && paragraph(`and ${others} more`)}`,
  }
}

/** Pull requests are opened, assigned, labelled and closed as issues are. */
function tellIssue(
  payload: (TimelineEvent & { type: 'IssuesEvent' | 'PullRequestEvent' })['payload'],
  kind: string,
  issue: Thing & { title: string | null },
  mentioned: Mentioned,
  repo: Thing,
  web: string,
): Told {
  const told = { link: issue.href, more: paragraph(issue.title) }
  switch (payload.action) {
    case 'assigned':
      return { ...told, words: ['assigned ', personAt(mentioned, payload.assignee_id, web), ` to ${kind} `, issue, ' in ', repo] }
    case 'unassigned':
      return { ...told, words: ['took ', personAt(mentioned, payload.assignee_id, web), ` off ${kind} `, issue, ' in ', repo] }
    case 'labeled':
    case 'unlabeled': {
      const { name } = mentioned.labels.get(payload.label_id) ?? {}
      const label = name === undefined ? 'a label' : `the label ${name}`
      const words = payload.action === 'labeled' ? `added ${label} to ${kind} ` : `removed ${label} from ${kind} `
      return { ...told, words: [words, issue, ' in ', repo] }
    }
    default:
      return { ...told, words: [`${'merged' in payload ? 'merged' : payload.action} ${kind} `, issue, ' in ', repo] }
  }
}

function issueAt(mentioned: Mentioned, issue_id: number, repo: Thing) {
  const issue = mentioned.issues.get(issue_id)
  if (!issue) return { kind: 'issue', name: 'that is gone', href: repo.href, title: null }
  const [kind, folder] = issue.pull_id === null ? ['issue', 'issues'] : ['pull request', 'pull']
  return { kind, name: `#${issue.number}`, href: `${repo.href}/${folder}/${issue.number}`, title: issue.title }
}

function pullAt(mentioned: Mentioned, pull_id: number, repo: Thing) {
  const pull = mentioned.pulls.get(pull_id)
  if (!pull) return { name: 'that is gone', href: repo.href, title: null }
  return { name: `#${pull.number}`, href: `${repo.href}/pull/${pull.number}`, title: pull.title }
}

function treeOf(repo: Thing, ref: string) {
  return `${repo.href}/tree/${encodePath(ref)}`
}

function encodePath(path: string) {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}

function firstLine(message: string) {
  return message.trimStart().split(/[\r\n]/, 1)[0] ?? ''
}

function paragraph(text: string | null) {
  return xml`${text !== null && text !== '' && xml`<p>${text}</p>`}`
}
