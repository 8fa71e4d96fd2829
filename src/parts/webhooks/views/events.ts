import type { EmittedEvent } from '#parts/webhooks/events.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import { choice } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'

/** When each event is sent. A ping is sent regardless of the subscriptions, so it is not in the list. */
const groups = {
  Code: {
    push: 'Commits or tags are pushed, or a branch is deleted.',
    create: 'A branch or tag is created.',
    delete: 'A branch or tag is deleted.',
    commit_comment: 'A user comments on a commit.',
    branch_protection_rule: 'The protection of a branch is created, edited or deleted.',
    check_run: 'A check run is created, completed or requested again.',
    check_suite: 'A check suite is requested, completed or requested again.',
    deployment: 'A deployment is created.',
    deployment_status: 'The state of a deployment is reported.',
    status: 'The state of a commit is reported.',
    release: 'A release is drafted, published, edited or deleted.',
    fork: 'A user forks the repository.',
    repository_import: 'An import has completed or failed.',
    RepositoryImportEvent: 'The status of an import changes.',
  },
  Issues: {
    issues: 'An issue is opened, edited, closed, labeled, assigned or changed in another way.',
    issue_comment: 'A comment on an issue or pull request is created, edited or deleted.',
    label: 'A label is created, edited or deleted.',
    milestone: 'A milestone is created, closed, opened, edited or deleted.',
  },
  'Pull requests': {
    pull_request: 'A pull request is opened, edited, merged, closed or changed in another way.',
    pull_request_review: 'A review is submitted, edited or dismissed.',
    pull_request_review_comment: 'A comment on a diff is created, edited or deleted.',
    pull_request_review_thread: 'A conversation about lines of a diff is resolved or unresolved.',
  },
  Repository: {
    star: 'A user stars or unstars the repository.',
    watch: 'A user stars the repository (the older event).',
    deploy_key: 'A deploy key is added or deleted.',
    member: 'A collaborator is added or removed, or gets another permission.',
    team_add: 'A team gets access to the repository.',
    public: 'A private repository is made public.',
    repository: 'The repository is created, renamed, edited, archived, transferred or deleted.',
    meta: 'This webhook itself is deleted.',
  },
}
/** Only hooks of organizations get these. */
const organizationGroup = {
  Organization: {
    organization: 'A member is added or removed, or the organization is renamed.',
    team: 'A team is created, edited or deleted, or its access to a repository changes.',
    membership: 'A user is added to a team or removed from it.',
  },
}
const words: Record<string, string> = {
  ...groups.Code,
  ...groups.Issues,
  ...groups['Pull requests'],
  ...groups.Repository,
  ...organizationGroup.Organization,
} satisfies Record<Exclude<EmittedEvent, 'ping'>, string>

export const picks = { push: 'Just the push event', all: 'Send me everything', some: 'Let me select individual events' } as const
export type Pick = keyof typeof picks

export function pickOf(events: string[]): Pick {
  if (events.includes('*')) return 'all'
  return events.length === 1 && events[0] === 'push' ? 'push' : 'some'
}

/** CSS alone hides the checkboxes until they are needed, so that they work without scripts. */
export function eventPicker(
  target: HookTarget['type'],
  { pick, events: chosen }: { pick: Pick; events: string[] },
  error: string | undefined,
): Html {
  const ways = Object.entries(picks).map(([value, title]) =>
    choice({ name: 'pick', value, type: 'radio', chosen: value === pick }, title),
  )
  const others = chosen.filter((name) => name !== '*' && !Object.hasOwn(words, name))
  const offered = target === 'organization' ? { ...groups, ...organizationGroup } : groups
  return html`<fieldset class="picker"${error && html` aria-invalid="true" aria-describedby="events-error"`}><legend>Which events should trigger this webhook?</legend>
${error && html`<p class="field-error" id="events-error">${error}</p>`}${ways}
<div class="event-groups">${Object.entries(offered).map(([title, events]) => group(title, Object.keys(events), chosen))}${others.length > 0 && group('Others', others, chosen)}</div></fieldset>`
}

function group(title: string, events: string[], chosen: string[]): Html {
  const boxes = events.map((name) => {
    const description = words[name] ?? 'Belfry never sends this event.'
    return choice(
      { name: 'events', value: name, chosen: chosen.includes(name) },
      html`<span><code>${name}</code> <span class="hint muted">${description}</span></span>`,
    )
  })
  return html`<fieldset class="event-group"><legend>${title}</legend>${boxes}</fieldset>`
}

export function pickedEvents(given: URLSearchParams): string[] {
  const pick = given.get('pick')
  if (pick === 'all') return ['*']
  return pick === 'some' ? [...new Set(given.getAll('events').map((name) => name.replaceAll('\0', '')))] : ['push']
}

export function eventsInWords(events: string[]): Html {
  if (events.includes('*')) return html`everything`
  if (!events.length) return html`no events`
  const [first, ...more] = events.slice(0, 4).map((name) => html`<code>${name}</code>`)
  return html`${first}${more.map((name) => html`, ${name}`)}${events.length > 4 && ` and ${events.length - 4} more`}`
}
