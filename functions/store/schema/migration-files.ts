/**
 * The migrations of this release, in their order: file names under migrations/. Functions other than the migrator have no
 * such folder and compare by these names; a test compares the two.
 */
export const MIGRATIONS = [
  '001-tables.sql',
  '002-readers.sql',
  '003-audit.sql',
  '004-foreign-rules.sql',
  '005-profile.sql',
  '006-warned-files.sql',
  '007-held-sets.sql',
  '008-fence-floor.sql',
] as const
