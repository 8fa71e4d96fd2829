/** A pull request is an issue whose acts have names of their own. */
export interface ActedOn {
  id: number
  pull_id: number | null
}

/** The name of an act on an issue or a pull request, with the facts that all of these acts state. */
export function actOn<Verb extends string>({ id, pull_id }: ActedOn, verb: Verb) {
  const act: `issue.${Verb}` | `pull.${Verb}` = pull_id === null ? `issue.${verb}` : `pull.${verb}`
  return { act, issue_id: id, pull_id }
}
