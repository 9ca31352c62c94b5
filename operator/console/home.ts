/*
 * A browser sends a cookie to every port of a host, another user's server on this computer among them, but only below
 * the path it was set for. So a console lies below a path that nobody can guess, and its pages are written as if it lay at
 * the root: here, and nowhere else, addresses get that path and lose it.
 */

/** A page with its own addresses below the home. Values have their quotes escaped, so none can look like an attribute. */
export const belowHome = (home: string, page: string): string =>
  page.replaceAll(/ (href|(?:form)?action|src)="\//g, ` $1="${home}/`)

/**
 * The path below the home; null for a path outside it.
 * See decisions.md, "The console is below a path that nobody can guess".
 */
export const pathInside = (home: string, path: string): string | null =>
  path.startsWith(`${home}/`) ? path.slice(home.length) : null
