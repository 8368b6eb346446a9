"""The version of this package, for the User-Agent."""

VERSION = "0.1.0"
