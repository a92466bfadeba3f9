//! The cache models from outside: tables of cases with their sources, and properties.

mod cases;
mod properties;
