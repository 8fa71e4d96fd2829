/** The path names a repository by a former name. `to` is the repository under its present name. */
export class Moved extends Error {
  readonly to: { id: number; owner: string; name: string }
  constructor(to: Moved['to']) {
    super('Moved Permanently')
    this.to = to
  }
}
