"""Tables of IBM i: Collection Services files and Db2 for i services, as CSV files and as rows of SQL."""
